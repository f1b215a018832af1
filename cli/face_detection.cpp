#include "cli/face_detection.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <tenure/base/error.hpp>

namespace tenure::cli {
namespace {

constexpr float kInputSide = 128.0F;  // the model's numbers are pixels of its input
constexpr std::size_t kValues = 16;   // centre, size, six points
constexpr std::size_t kAnchors = 896;
constexpr float kLowestScore = 0.5F;
constexpr float kHighestLogit = 100.0F;
constexpr float kSameFace = 0.3F;  // overlap from which two boxes are one face

/// Layers of one stride share a grid; each of their cells has two anchors a layer, all of them at its middle.
struct Grid {
  int side;
  int anchors;
};
constexpr std::array kGrids = {Grid{16, 2}, Grid{8, 6}};  // strides 8, and 16 three times

std::vector<Point> make_anchors() {
  std::vector<Point> anchors;
  anchors.reserve(kAnchors);
  for (const Grid& grid : kGrids) {
    for (int cell = 0; cell < grid.side * grid.side; ++cell) {
      const int row = cell / grid.side;
      const int column = cell % grid.side;
      const auto side = static_cast<float>(grid.side);
      const Point middle{(static_cast<float>(column) + 0.5F) / side, (static_cast<float>(row) + 0.5F) / side};
      anchors.insert(anchors.end(), static_cast<std::size_t>(grid.anchors), middle);
    }
  }
  return anchors;
}

std::span<const float> values_of(const Outputs& outputs, std::string_view name, std::size_t expected) {
  const auto values = outputs[name].view<float>();
  if (values.size() == expected) return values;
  throw Error(ErrorCode::kInvalidArgument, "the output '" + std::string(name) + "' has " +
                                               std::to_string(values.size()) + " values; expected " +
                                               std::to_string(expected) + ", as face_detection_short_range gives");
}

Face decode(std::span<const float> raw, const Point& anchor, float score) {
  const auto point_at = [&](std::size_t index) {
    return Point{raw[index] / kInputSide + anchor.x, raw[index + 1] / kInputSide + anchor.y};
  };
  const Point middle = point_at(0);
  const Point half{raw[2] / kInputSide / 2, raw[3] / kInputSide / 2};
  Face face{.score = score,
            .top_left = {middle.x - half.x, middle.y - half.y},
            .bottom_right = {middle.x + half.x, middle.y + half.y},
            .points = {}};
  for (std::size_t i = 0; i < face.points.size(); ++i) face.points[i] = point_at(4 + 2 * i);
  return face;
}

float area_of(const Point& top_left, const Point& bottom_right) noexcept {
  return std::max(bottom_right.x - top_left.x, 0.0F) * std::max(bottom_right.y - top_left.y, 0.0F);
}

float overlap_of(const Face& a, const Face& b) noexcept {
  const Point top_left{std::max(a.top_left.x, b.top_left.x), std::max(a.top_left.y, b.top_left.y)};
  const Point bottom_right{std::min(a.bottom_right.x, b.bottom_right.x), std::min(a.bottom_right.y, b.bottom_right.y)};
  const float common = area_of(top_left, bottom_right);
  const float all = area_of(a.top_left, a.bottom_right) + area_of(b.top_left, b.bottom_right) - common;
  return all > 0.0F ? common / all : 0.0F;
}

void add_weighted(Point& sum, const Point& point, float weight) noexcept {
  sum.x += point.x * weight;
  sum.y += point.y * weight;
}

/// One face of several boxes: their mean, weighted by their scores; its score is the best one.
Face merge(const std::vector<Face>& boxes) noexcept {
  Face merged{.score = boxes.front().score, .top_left = {}, .bottom_right = {}, .points = {}};
  float total = 0.0F;
  for (const Face& box : boxes) total += box.score;
  for (const Face& box : boxes) {
    const float weight = box.score / total;
    add_weighted(merged.top_left, box.top_left, weight);
    add_weighted(merged.bottom_right, box.bottom_right, weight);
    for (std::size_t i = 0; i < box.points.size(); ++i) add_weighted(merged.points[i], box.points[i], weight);
  }
  return merged;
}

/// Weighted non-maximum suppression.
std::vector<Face> suppress(std::vector<Face> candidates) {
  std::ranges::sort(candidates, std::ranges::greater{}, &Face::score);
  std::vector<Face> faces;
  while (!candidates.empty()) {
    const Face best = candidates.front();
    const auto is_same = [&best](const Face& face) { return overlap_of(best, face) > kSameFace; };
    std::vector<Face> same{best};
    std::copy_if(candidates.begin() + 1, candidates.end(), std::back_inserter(same), is_same);
    candidates.erase(candidates.begin());
    std::erase_if(candidates, is_same);
    faces.push_back(merge(same));
  }
  return faces;
}

}  // namespace

std::vector<Face> decode_faces(const Outputs& outputs) {
  const std::span<const float> boxes = values_of(outputs, "regressors", kAnchors * kValues);
  const std::span<const float> logits = values_of(outputs, "classificators", kAnchors);
  const std::vector<Point> anchors = make_anchors();
  std::vector<Face> candidates;
  for (std::size_t i = 0; i < anchors.size(); ++i) {
    const float logit = std::clamp(logits[i], -kHighestLogit, kHighestLogit);
    const float score = 1.0F / (1.0F + std::exp(-logit));
    if (!(score >= kLowestScore)) continue;
    candidates.push_back(decode(boxes.subspan(i * kValues, kValues), anchors[i], score));
  }
  return suppress(std::move(candidates));
}

Face undo_placement(const Face& face, const ImagePlacement& place) noexcept {
  const auto undo = [&place](const Point& point) {
    return Point{(point.x - place.left) / place.width, (point.y - place.top) / place.height};
  };
  Face result = face;
  result.top_left = undo(face.top_left);
  result.bottom_right = undo(face.bottom_right);
  std::ranges::transform(face.points, result.points.begin(), undo);
  return result;
}

}  // namespace tenure::cli

#pragma once

#include <array>
#include <tenure/tensor/image.hpp>
#include <tenure/tensor/tensor.hpp>
#include <vector>

namespace tenure::cli {

struct Point {
  float x = 0.0F;
  float y = 0.0F;
};

/// A face, in fractions of what it was found in, from the top left.
struct Face {
  float score = 0.0F;  ///< 0 to 1
  Point top_left;
  Point bottom_right;
  /// Right eye, left eye, tip of the nose, mouth, right ear, left ear; right and left are those of the face.
  std::array<Point, 6> points;
};

/// Decodes what `face` (MediaPipe's face detection, short range) gives for one picture.
///
/// Returns   the faces, the most certain first, in fractions of the model's input.
/// Errors    kInvalidArgument: the outputs are not those of this model.
/// Shapes    "regressors" float32 [1, 896, 16], "classificators" float32 [1, 896, 1].
/// Source    MediaPipe's SsdAnchorsCalculator, TensorsToDetectionsCalculator and NonMaxSuppressionCalculator, with the
///           numbers of its face_detection_short_range graph.
[[nodiscard]] std::vector<Face> decode_faces(const Outputs& outputs);

/// The same face in fractions of the picture, which `fit` put at `place` of the model's input.
[[nodiscard]] Face undo_placement(const Face& face, const ImagePlacement& place) noexcept;

}  // namespace tenure::cli

#pragma once

#include <array>
#include <string_view>

#include <tenure/tensor/image.hpp>

namespace tenure {

/// A model that tools/fetch brings, and what its file doesn't say.
struct KnownModel {
  std::string_view name;  ///< what the command line calls it
  std::string_view file;
  std::string_view task;
  std::string_view licence;
  std::string_view source;
  ImageRange range;  ///< the values it expects for black and white
  ImageFit fit = ImageFit::kLetterbox;
};

inline constexpr std::array<KnownModel, 4> kKnownModels = {{
    {.name = "face",
     .file = "face_detection_short_range.tflite",
     .task = "finds faces within two metres: boxes, key points and scores of 896 anchors",
     .licence = "Apache-2.0",
     .source = "npm @mediapipe/face_detection 0.4.1657300184",
     .range = {.low = -1.0F, .high = 1.0F},
     .fit = ImageFit::kLetterbox},
    {.name = "hand",
     .file = "hand_landmark_full.tflite",
     .task = "places 21 points of the hand in the picture, and tells left from right",
     .licence = "Apache-2.0",
     .source = "npm @mediapipe/hands 0.4.1675469240",
     .range = {.low = 0.0F, .high = 1.0F},
     .fit = ImageFit::kLetterbox},
    {.name = "pose",
     .file = "pose_landmark_heavy.tflite",
     .task = "places 39 points of the body in the picture, with a mask of it",
     .licence = "Apache-2.0",
     .source = "npm @mediapipe/pose 0.5.1675469404",
     .range = {.low = 0.0F, .high = 1.0F},
     .fit = ImageFit::kLetterbox},
    {.name = "segment",
     .file = "selfie_segmentation.tflite",
     .task = "tells the person from the background, pixel by pixel",
     .licence = "Apache-2.0",
     .source = "npm @mediapipe/selfie_segmentation 0.1.1675465747",
     .range = {.low = 0.0F, .high = 1.0F},
     .fit = ImageFit::kStretch},
}};

/// The known model of a name, or null.
[[nodiscard]] constexpr const KnownModel* find_known_model(std::string_view name) noexcept {
  for (const KnownModel& model : kKnownModels) {
    if (model.name == name) return &model;
  }
  return nullptr;
}

}  // namespace tenure

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace tenure::litert {

/// How many inputs and outputs a builtin operator has, and which kind of options.
struct OperatorForm {
  std::int32_t code;
  std::uint16_t least_inputs;
  std::uint16_t most_inputs;
  std::uint16_t least_outputs;
  std::uint16_t most_outputs;
  std::uint8_t options;  ///< its number in the union BuiltinOptions; 0: the operator has none
};

// By the schema of LiteRT 2.1.6 and the kernels' own checks, which come too late or not at all. Operators with inner
// graphs, and recurrent ones, whose inputs may all be left out, are not listed.
// clang-format off
inline constexpr std::array kOperatorForms = {
    OperatorForm{0, 2, 2, 1, 1, 11},  // ADD
    OperatorForm{1, 1, 1, 1, 1, 5},  // AVERAGE_POOL_2D
    OperatorForm{2, 1, 1024, 1, 1, 10},  // CONCATENATION
    OperatorForm{3, 2, 3, 1, 1, 1},  // CONV_2D
    OperatorForm{4, 2, 3, 1, 1, 2},  // DEPTHWISE_CONV_2D
    OperatorForm{5, 1, 1, 1, 1, 94},  // DEPTH_TO_SPACE
    OperatorForm{6, 1, 1, 1, 1, 38},  // DEQUANTIZE
    OperatorForm{7, 2, 2, 1, 1, 0},  // EMBEDDING_LOOKUP
    OperatorForm{8, 1, 1, 1, 1, 0},  // FLOOR
    OperatorForm{9, 2, 3, 1, 1, 8},  // FULLY_CONNECTED
    OperatorForm{10, 3, 3, 2, 2, 0},  // HASHTABLE_LOOKUP
    OperatorForm{11, 1, 1, 1, 1, 12},  // L2_NORMALIZATION
    OperatorForm{12, 1, 1, 1, 1, 5},  // L2_POOL_2D
    OperatorForm{13, 1, 1, 1, 1, 13},  // LOCAL_RESPONSE_NORMALIZATION
    OperatorForm{14, 1, 1, 1, 1, 0},  // LOGISTIC
    OperatorForm{15, 2, 3, 1, 1, 4},  // LSH_PROJECTION
    OperatorForm{17, 1, 1, 1, 1, 5},  // MAX_POOL_2D
    OperatorForm{18, 2, 2, 1, 1, 21},  // MUL
    OperatorForm{19, 1, 1, 1, 1, 0},  // RELU
    OperatorForm{20, 1, 1, 1, 1, 0},  // RELU_N1_TO_1
    OperatorForm{21, 1, 1, 1, 1, 0},  // RELU6
    OperatorForm{22, 1, 2, 1, 1, 17},  // RESHAPE
    OperatorForm{23, 2, 2, 1, 1, 15},  // RESIZE_BILINEAR
    OperatorForm{24, 5, 5, 1, 1, 7},  // RNN
    OperatorForm{25, 1, 1, 1, 1, 9},  // SOFTMAX
    OperatorForm{26, 1, 1, 1, 1, 19},  // SPACE_TO_DEPTH
    OperatorForm{27, 4, 5, 1, 1, 6},  // SVDF
    OperatorForm{28, 1, 1, 1, 1, 0},  // TANH
    OperatorForm{29, 1, 1024, 1, 1, 3},  // CONCAT_EMBEDDINGS
    OperatorForm{30, 1, 1, 1, 1, 18},  // SKIP_GRAM
    OperatorForm{33, 5, 5, 1, 1, 20},  // EMBEDDING_LOOKUP_SPARSE
    OperatorForm{34, 2, 2, 1, 1, 22},  // PAD
    OperatorForm{35, 5, 5, 1, 1, 31},  // UNIDIRECTIONAL_SEQUENCE_RNN
    OperatorForm{36, 2, 2, 1, 1, 23},  // GATHER
    OperatorForm{37, 3, 3, 1, 1, 24},  // BATCH_TO_SPACE_ND
    OperatorForm{38, 3, 3, 1, 1, 25},  // SPACE_TO_BATCH_ND
    OperatorForm{39, 2, 2, 1, 1, 26},  // TRANSPOSE
    OperatorForm{40, 2, 2, 1, 1, 27},  // MEAN
    OperatorForm{41, 2, 2, 1, 1, 28},  // SUB
    OperatorForm{42, 2, 2, 1, 1, 29},  // DIV
    OperatorForm{43, 1, 1, 1, 1, 30},  // SQUEEZE
    OperatorForm{45, 4, 5, 1, 1, 32},  // STRIDED_SLICE
    OperatorForm{47, 1, 1, 1, 1, 33},  // EXP
    OperatorForm{48, 2, 2, 2, 2, 34},  // TOPK_V2
    OperatorForm{49, 2, 2, 1, 1024, 35},  // SPLIT
    OperatorForm{50, 1, 1, 1, 1, 36},  // LOG_SOFTMAX
    OperatorForm{53, 1, 1, 1, 1, 37},  // CAST
    OperatorForm{54, 2, 2, 1, 1, 0},  // PRELU
    OperatorForm{55, 2, 2, 1, 1, 39},  // MAXIMUM
    OperatorForm{56, 2, 2, 1, 1, 40},  // ARG_MAX
    OperatorForm{57, 2, 2, 1, 1, 39},  // MINIMUM
    OperatorForm{58, 2, 2, 1, 1, 41},  // LESS
    OperatorForm{59, 1, 1, 1, 1, 42},  // NEG
    OperatorForm{60, 3, 3, 1, 1, 43},  // PADV2
    OperatorForm{61, 2, 2, 1, 1, 44},  // GREATER
    OperatorForm{62, 2, 2, 1, 1, 45},  // GREATER_EQUAL
    OperatorForm{63, 2, 2, 1, 1, 46},  // LESS_EQUAL
    OperatorForm{64, 3, 3, 1, 1, 47},  // SELECT
    OperatorForm{65, 3, 3, 1, 1, 48},  // SLICE
    OperatorForm{66, 1, 1, 1, 1, 0},  // SIN
    OperatorForm{67, 3, 4, 1, 1, 49},  // TRANSPOSE_CONV
    OperatorForm{68, 4, 4, 1, 1, 50},  // SPARSE_TO_DENSE
    OperatorForm{69, 2, 2, 1, 1, 51},  // TILE
    OperatorForm{70, 2, 2, 1, 1, 52},  // EXPAND_DIMS
    OperatorForm{71, 2, 2, 1, 1, 53},  // EQUAL
    OperatorForm{72, 2, 2, 1, 1, 54},  // NOT_EQUAL
    OperatorForm{73, 1, 1, 1, 1, 0},  // LOG
    OperatorForm{74, 2, 2, 1, 1, 27},  // SUM
    OperatorForm{75, 1, 1, 1, 1, 0},  // SQRT
    OperatorForm{76, 1, 1, 1, 1, 0},  // RSQRT
    OperatorForm{77, 1, 1, 1, 1, 55},  // SHAPE
    OperatorForm{78, 2, 2, 1, 1, 56},  // POW
    OperatorForm{79, 2, 2, 1, 1, 57},  // ARG_MIN
    OperatorForm{80, 1, 1, 1, 1, 58},  // FAKE_QUANT
    OperatorForm{81, 2, 2, 1, 1, 27},  // REDUCE_PROD
    OperatorForm{82, 2, 2, 1, 1, 27},  // REDUCE_MAX
    OperatorForm{83, 1, 1024, 1, 1, 59},  // PACK
    OperatorForm{84, 2, 2, 1, 1, 60},  // LOGICAL_OR
    OperatorForm{85, 4, 4, 1, 1, 61},  // ONE_HOT
    OperatorForm{86, 2, 2, 1, 1, 62},  // LOGICAL_AND
    OperatorForm{87, 1, 1, 1, 1, 63},  // LOGICAL_NOT
    OperatorForm{88, 1, 1, 1, 1024, 64},  // UNPACK
    OperatorForm{89, 2, 2, 1, 1, 27},  // REDUCE_MIN
    OperatorForm{90, 2, 2, 1, 1, 65},  // FLOOR_DIV
    OperatorForm{91, 2, 2, 1, 1, 27},  // REDUCE_ANY
    OperatorForm{92, 1, 1, 1, 1, 66},  // SQUARE
    OperatorForm{93, 1, 1, 1, 1, 67},  // ZEROS_LIKE
    OperatorForm{94, 2, 2, 1, 1, 68},  // FILL
    OperatorForm{95, 2, 2, 1, 1, 72},  // FLOOR_MOD
    OperatorForm{96, 3, 3, 1, 1, 73},  // RANGE
    OperatorForm{97, 2, 2, 1, 1, 74},  // RESIZE_NEAREST_NEIGHBOR
    OperatorForm{98, 1, 1, 1, 1, 75},  // LEAKY_RELU
    OperatorForm{99, 2, 2, 1, 1, 76},  // SQUARED_DIFFERENCE
    OperatorForm{100, 2, 2, 1, 1, 77},  // MIRROR_PAD
    OperatorForm{101, 1, 1, 1, 1, 78},  // ABS
    OperatorForm{102, 3, 3, 1, 1024, 79},  // SPLIT_V
    OperatorForm{103, 1, 1, 2, 2, 80},  // UNIQUE
    OperatorForm{104, 1, 1, 1, 1, 0},  // CEIL
    OperatorForm{105, 2, 2, 1, 1, 81},  // REVERSE_V2
    OperatorForm{106, 1, 1024, 1, 1, 82},  // ADD_N
    OperatorForm{107, 2, 2, 1, 1, 83},  // GATHER_ND
    OperatorForm{108, 1, 1, 1, 1, 84},  // COS
    OperatorForm{109, 1, 1, 1, 1, 85},  // WHERE
    OperatorForm{110, 1, 1, 1, 1, 86},  // RANK
    OperatorForm{111, 1, 1, 1, 1, 0},  // ELU
    OperatorForm{112, 2, 2, 1, 1, 87},  // REVERSE_SEQUENCE
    OperatorForm{113, 1, 1, 1, 1, 88},  // MATRIX_DIAG
    OperatorForm{114, 1, 1, 1, 1, 89},  // QUANTIZE
    OperatorForm{115, 2, 2, 1, 1, 90},  // MATRIX_SET_DIAG
    OperatorForm{116, 1, 1, 1, 1, 0},  // ROUND
    OperatorForm{117, 1, 1, 1, 1, 91},  // HARD_SWISH
    OperatorForm{120, 5, 6, 1, 3, 95},  // NON_MAX_SUPPRESSION_V4
    OperatorForm{121, 5, 6, 1, 3, 96},  // NON_MAX_SUPPRESSION_V5
    OperatorForm{122, 3, 3, 1, 1, 97},  // SCATTER_ND
    OperatorForm{123, 3, 3, 1, 1, 98},  // SELECT_V2
    OperatorForm{124, 1, 1, 1, 1, 99},  // DENSIFY
    OperatorForm{125, 2, 2, 1, 1, 100},  // SEGMENT_SUM
    OperatorForm{126, 2, 2, 1, 1, 101},  // BATCH_MATMUL
    OperatorForm{128, 2, 2, 1, 1, 102},  // CUMSUM
    OperatorForm{130, 2, 2, 1, 1, 104},  // BROADCAST_TO
    OperatorForm{131, 2, 2, 1, 1, 105},  // RFFT2D
    OperatorForm{132, 2, 3, 1, 1, 106},  // CONV_3D
    OperatorForm{136, 0, 0, 1, 1, 107},  // HASHTABLE
    OperatorForm{137, 3, 3, 1, 1, 108},  // HASHTABLE_FIND
    OperatorForm{138, 3, 3, 0, 0, 109},  // HASHTABLE_IMPORT
    OperatorForm{139, 1, 1, 1, 1, 110},  // HASHTABLE_SIZE
    OperatorForm{140, 2, 2, 1, 1, 27},  // REDUCE_ALL
    OperatorForm{141, 3, 4, 1, 1, 106},  // CONV_3D_TRANSPOSE
    OperatorForm{142, 0, 0, 1, 1, 111},  // VAR_HANDLE
    OperatorForm{143, 1, 1, 1, 1, 112},  // READ_VARIABLE
    OperatorForm{144, 2, 2, 0, 0, 113},  // ASSIGN_VARIABLE
    OperatorForm{145, 2, 2, 1, 1, 0},  // BROADCAST_ARGS
    OperatorForm{146, 1, 1, 1, 1, 0},  // RANDOM_STANDARD_NORMAL
    OperatorForm{147, 1, 1, 1, 1, 115},  // BUCKETIZE
    OperatorForm{148, 1, 1, 1, 1, 0},  // RANDOM_UNIFORM
    OperatorForm{149, 2, 2, 1, 1, 0},  // MULTINOMIAL
    OperatorForm{150, 1, 1, 1, 1, 116},  // GELU
    OperatorForm{151, 3, 3, 1, 1, 117},  // DYNAMIC_UPDATE_SLICE
    OperatorForm{152, 1, 1, 1, 1, 0},  // RELU_0_TO_1
    OperatorForm{153, 3, 3, 1, 1, 118},  // UNSORTED_SEGMENT_PROD
    OperatorForm{154, 3, 3, 1, 1, 119},  // UNSORTED_SEGMENT_MAX
    OperatorForm{155, 3, 3, 1, 1, 121},  // UNSORTED_SEGMENT_SUM
    OperatorForm{156, 2, 2, 1, 1, 122},  // ATAN2
    OperatorForm{157, 3, 3, 1, 1, 120},  // UNSORTED_SEGMENT_MIN
    OperatorForm{158, 1, 1, 1, 1, 123},  // SIGN
    OperatorForm{159, 1, 1, 1, 1, 124},  // BITCAST
    OperatorForm{160, 2, 2, 1, 1, 125},  // BITWISE_XOR
    OperatorForm{161, 2, 2, 1, 1, 126},  // RIGHT_SHIFT
};
// clang-format on
static_assert(std::ranges::is_sorted(kOperatorForms, {}, &OperatorForm::code));

/// The form of an operator, or null where it isn't listed.
[[nodiscard]] inline const OperatorForm* find_operator_form(std::int32_t code) noexcept {
  const auto found = std::ranges::lower_bound(kOperatorForms, code, {}, &OperatorForm::code);
  return found != kOperatorForms.end() && found->code == code ? &*found : nullptr;
}

}  // namespace tenure::litert

#pragma once

/// All of Tenure.
#include <tenure/session.hpp>
#include <tenure/tensor/image.hpp>
#include <tenure/tensor/npy.hpp>

// What is wrong with a model or an input is said, with the right exit code, and nothing is left behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <tenure/base/file.hpp>
#include <tenure/tensor/npy.hpp>

#include "support/program.hpp"
#include "support/temporary_folder.hpp"

namespace tenure::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::string path_of(const char* model) {
  const nlohmann::json document = tenure({"models", "--json"}).json();
  for (const auto& entry : document["models"]) {
    if (entry["name"] == model) return entry["path"];
  }
  ADD_FAILURE() << "no model " << model;
  return {};
}

std::vector<std::byte> face_bytes() { return read_file(path_of("face")); }

class BadInput : public ::testing::Test {
 protected:
  fs::path write(const std::string& name, std::span<const std::byte> bytes) {
    fs::path file = folder_.path() / name;
    write_file(file, bytes);
    return file;
  }
  fs::path write_tensor(const std::string& name, ElementType type, Shape shape) {
    fs::path file = folder_.path() / name;
    write_npy(file, Tensor({.name = name, .type = type, .shape = std::move(shape)}));
    return file;
  }
  /// Runs `face` on `input`, with an output folder that must not come to be.
  Finished run_face(std::vector<std::string> arguments) {
    const fs::path output = folder_.path() / "output";
    arguments.insert(arguments.begin(), {"run", "face", "--output", output.string()});
    Finished finished = tenure(std::move(arguments));
    EXPECT_FALSE(fs::exists(output));
    return finished;
  }

  TemporaryFolder folder_;
};

TEST_F(BadInput, UnknownModel) {
  for (const char* verb : {"run", "inspect"}) {
    expect_refusal(tenure({verb, "fase"}), 3, "no model 'fase'", "face, hand, pose, segment");
    expect_refusal(tenure({verb, "./fase.tflite"}), 3, "no model file './fase.tflite'", "face, hand, pose, segment");
  }
}

TEST_F(BadInput, AnErrorIsADocumentToo) {
  const Finished finished = tenure({"run", "fase", "--json"});
  expect_refusal(finished, 3, "fase");
  EXPECT_EQ(finished.json()["error"]["code"], "not_found");
  EXPECT_EQ(finished.json()["error"]["exit_code"], 3);
}

TEST_F(BadInput, EmptyModel) {
  for (const char* name : {"empty.tflite", "empty.bin"}) {
    expect_refusal(tenure({"run", write(name, {}).string()}), 3, "empty", "TFLite model");
  }
}

TEST_F(BadInput, TruncatedModel) {
  const std::vector<std::byte> whole = face_bytes();
  for (const std::size_t size :
       {std::size_t{7}, std::size_t{16}, std::size_t{1000}, whole.size() / 2, whole.size() - 1}) {
    const fs::path file = write("cut.tflite", std::span(whole).first(size));
    const Finished finished = tenure({"inspect", file.string()});
    // The last bytes of the file may be padding that nobody reads.
    if (size == whole.size() - 1 && finished.exit_code == 0) continue;
    expect_refusal(finished, 3, "cut.tflite", "expected");
  }
}

TEST_F(BadInput, BitFlippedModelNeverCrashes) {
  std::vector<std::byte> bytes = face_bytes();
  for (std::size_t i = 0; i < 24; ++i) {
    const std::size_t at = (i * 7919 + 4) % (i < 12 ? 4096 : bytes.size());
    bytes[at] ^= std::byte{0x10};
    const Finished finished = tenure({"run", write("flipped.tflite", bytes).string()});
    EXPECT_EQ(finished.signal, 0) << "byte " << at;
    EXPECT_THAT((std::vector<int>{0, 3}), ::testing::Contains(finished.exit_code)) << "byte " << at << finished.errors;
    bytes[at] ^= std::byte{0x10};
  }
}

TEST_F(BadInput, AnotherKindOfFile) {
  const fs::path text = folder_.write("readme.txt", "This is no model.\n");
  const fs::path disguised = folder_.write("page.tflite", "<!DOCTYPE html><html></html>");
  expect_refusal(tenure({"run", text.string()}), 3, "a text file", "expected a TFLite model");
  expect_refusal(tenure({"run", disguised.string()}), 3, "a web page", "expected a TFLite model");
  expect_refusal(tenure({"run", TENURE_PROGRAM}), 3, "an ELF program");
  expect_refusal(tenure({"run", folder_.path().string()}), 3, "a folder");
  expect_refusal(tenure({"run", "/dev/zero"}), 3, "no regular file");
}

TEST_F(BadInput, ModelWithoutPermission) {
  const fs::path file = write("mine.tflite", face_bytes());
  fs::permissions(folder_.path(), fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec);
  fs::permissions(file, fs::perms::none);
  Launch launch;
  launch.arguments = {"run", file.string()};
  launch.as_nobody = true;
  expect_refusal(tenure_with(launch), 3, "no permission to read", "mine.tflite");
  fs::permissions(folder_.path(), fs::perms::owner_all);
  expect_refusal(tenure_with(launch), 3, "no permission", "mine.tflite");
}

TEST_F(BadInput, ImageThatIsNone) {
  expect_refusal(run_face({"--image", path_of("face")}), 3, "a TFLite model", "expected a PNG or JPEG picture");
  expect_refusal(run_face({"--image", folder_.write("a.png", "no picture").string()}), 3, "a text file");
  expect_refusal(run_face({"--image", folder_.write("b.png", "\x89PNG\r\n\x1a\n cut").string()}), 3, "damaged");
  expect_refusal(run_face({"--image", folder_.write("c.png", "").string()}), 3, "empty");
  expect_refusal(run_face({"--image", "nowhere.png"}), 3, "no file 'nowhere.png'");
}

TEST_F(BadInput, ArraysThatDoNotFit) {
  const auto refused = [this](const std::string& input, auto... parts) {
    expect_refusal(run_face({"--input", input}), 3, parts...);
  };
  const std::string shape = write_tensor("shape.npy", ElementType::kFloat32, {1, 64, 64, 3});
  const std::string type = write_tensor("type.npy", ElementType::kUInt8, {1, 128, 128, 3});
  const std::string good = write_tensor("good.npy", ElementType::kFloat32, {1, 128, 128, 3});
  refused("input=" + shape, "float32 [1, 64, 64, 3]", "takes float32 [1, 128, 128, 3]");
  refused("input=" + type, "uint8 [1, 128, 128, 3]", "takes float32 [1, 128, 128, 3]");
  refused("picture=" + good, "no input 'picture'", "'input' float32 [1, 128, 128, 3]");
  refused("input=" + path_of("face"), "a TFLite model", "NumPy array");
  refused("input=nowhere.npy", "no file 'nowhere.npy'");
  refused("input=", "NAME=FILE.npy");
  refused("=" + good, "NAME=FILE.npy");
  expect_refusal(run_face({"--input", "input=" + good, "--input", "input=" + good}), 3, "given twice");
  expect_refusal(run_face({"--input", "input=" + good, "--input", "mask=" + good}), 3, "no input 'mask'");
}

TEST_F(BadInput, ArraysThatFitNeedNoNameForOneInput) {
  const std::string good = write_tensor("good.npy", ElementType::kFloat32, {1, 128, 128, 3});
  const Finished named = tenure({"run", "face", "--input", "input=" + good, "--json"});
  const Finished unnamed = tenure({"run", "--input", good, "face", "--json"});
  ASSERT_EQ(named.exit_code, 0) << named.errors;
  ASSERT_EQ(unnamed.exit_code, 0) << unnamed.errors;
  EXPECT_EQ(named.json()["outputs"], unnamed.json()["outputs"]);
}

TEST_F(BadInput, NoEngine) {
  const std::string face = path_of("face");
  const std::string empty = folder_.path().string();
  expect_refusal(tenure({"run", "face", "--cache", empty}), 4, "libLiteRt.so", "tools/fetch/fetch");
  expect_refusal(tenure({"inspect", face, "--cache", empty}), 4, "libLiteRt.so", "TENURE_CACHE");
  expect_refusal(tenure({"demo", "--cache", empty}), 4, "libLiteRt.so");
  Launch launch;
  launch.arguments = {"run", face};
  launch.environment = {{"TENURE_CACHE", empty}};
  expect_refusal(tenure_with(launch), 4, "libLiteRt.so");

  const Finished list = tenure({"engines", "--json", "--cache", empty});
  EXPECT_EQ(list.exit_code, 0);
  EXPECT_EQ(list.json()["engines"][0]["available"], false);
  EXPECT_THAT(list.json()["engines"][0]["reason"].get<std::string>(), HasSubstr("libLiteRt.so"));
  EXPECT_THAT(list.json()["engines"][0]["to_do"].get<std::string>(), HasSubstr("tools/fetch/fetch"));
  EXPECT_EQ(tenure({"models", "--json", "--cache", empty}).json()["models"][0]["in_cache"], false);
}

TEST_F(BadInput, AnEngineThatIsNone) {
  fs::create_directories(folder_.path() / "engines" / "litert");
  const fs::path library = folder_.write("engines/litert/libLiteRt.so", "no library");
  expect_refusal(tenure({"run", path_of("face"), "--cache", folder_.path().string()}), 4, "could not be opened",
                 library.string());
}

TEST_F(BadInput, OutputFolderThatCanNotBe) {
  const fs::path file = folder_.write("file", "");
  expect_refusal(tenure({"run", "face", "--output", file.string()}), 3, "is a file", "expects a folder");
  expect_refusal(tenure({"run", "face", "--output", (file / "below").string()}), 3, "could not be made");
  Launch launch;
  launch.arguments = {"run", "face", "--output", (folder_.path() / "a" / "b").string()};
  launch.as_nobody = true;
  expect_refusal(tenure_with(launch), 3, "this user may write");
  EXPECT_FALSE(fs::exists(folder_.path() / "a"));
}

}  // namespace
}  // namespace tenure::testing

using System.Diagnostics;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Kernels;

/// <summary>
/// Runs the tests of all kernels again as processors with narrower vectors run them. The runtime decides once for a process what
/// instructions it uses, so each width has a process of its own, in which a test proves that it has that width and no other.
/// </summary>
public sealed class OtherProcessorsTests
{
    private const string WithoutAvx512 = "DOTNET_EnableAVX512", WithoutAvx2 = "DOTNET_EnableAVX2",
        WithoutAny = "DOTNET_EnableHWIntrinsic";

    /// <summary>Names what the .NET runtime is told to leave out.</summary>
    [Theory]
    [InlineData(WithoutAvx512)]
    [InlineData(WithoutAvx2)]
    [InlineData(WithoutAny)]
    public async Task Kernels_are_right_on_processors_with_narrower_vectors(string setting)
    {
        Assert.SkipUnless(Avx2.IsSupported, "These settings are about processors with AVX2.");
        ProcessStartInfo start = BuiltProgram.StartInfo(
            typeof(OtherProcessorsTests).Assembly.Location, "--no-progress", "--filter-class", "*KernelsTests",
            "*.CellCoverTests", "*.VectorWidthTests");
        start.Environment[setting] = "0";
        using var process = Process.Start(start);
        Assert.NotNull(process);
        process.StandardInput.Close();
        Task<string> output = process.StandardOutput.ReadToEndAsync(TestContext.Current.CancellationToken),
            errors = process.StandardError.ReadToEndAsync(TestContext.Current.CancellationToken);
        await process.WaitForExitAsync(TestContext.Current.CancellationToken);
        Assert.True(process.ExitCode == 0, await output + await errors);
    }

    /// <summary>What proves the width, in the process that has it.</summary>
    public sealed class VectorWidthTests
    {
        [Fact]
        public void Vectors_are_as_wide_as_the_settings_say()
        {
            bool has128 = !IsOff(WithoutAny), has256 = has128 && !IsOff(WithoutAvx2), has512 = has256 && !IsOff(WithoutAvx512);
            Assert.Equal(Vector256.IsHardwareAccelerated, Avx2.IsSupported); // kernels use both together
            Assert.True(has128 || !Vector128.IsHardwareAccelerated);
            Assert.True(has256 || !(Vector256.IsHardwareAccelerated || Bmi2.X64.IsSupported));
            Assert.True(has512 || !(Vector512.IsHardwareAccelerated || Avx512BW.IsSupported));

            // What is not left out is there: the process that has started this one had it.
            bool isNarrowed = IsOff(WithoutAvx512) || IsOff(WithoutAvx2);
            Assert.True(!isNarrowed || (Vector128.IsHardwareAccelerated && Vector256.IsHardwareAccelerated == has256));
        }

        private static bool IsOff(string setting) => Environment.GetEnvironmentVariable(setting) == "0";
    }
}

using System.Diagnostics;
using System.Globalization;
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
    private const string WidthVariable = "TREEPIE_VECTOR_BITS";

    /// <summary>How the .NET runtime is told to leave out instructions.</summary>
    [Theory]
    [InlineData(256, "DOTNET_EnableAVX512")]
    [InlineData(128, "DOTNET_EnableAVX2")]
    [InlineData(0, "DOTNET_EnableHWIntrinsic")]
    public async Task Kernels_are_right_on_processors_with_narrower_vectors(int bits, string setting)
    {
        Assert.SkipUnless(Avx2.IsSupported, "These settings are about processors with AVX2.");
        ProcessStartInfo start = BuiltProgram.StartInfo(
            typeof(OtherProcessorsTests).Assembly.Location, "--no-progress", "--explicit", "on", "--filter-class",
            "*KernelsTests", "*.CellCoverTests", "*.WidthTests");
        start.Environment[setting] = "0";
        start.Environment[WidthVariable] = bits.ToString(CultureInfo.InvariantCulture);
        using var process = Process.Start(start);
        Assert.NotNull(process);
        process.StandardInput.Close();
        Task<string> output = process.StandardOutput.ReadToEndAsync(TestContext.Current.CancellationToken),
            errors = process.StandardError.ReadToEndAsync(TestContext.Current.CancellationToken);
        await process.WaitForExitAsync(TestContext.Current.CancellationToken);
        Assert.True(process.ExitCode == 0, await output + await errors);
    }

    /// <summary>What proves the width, in the process that has it.</summary>
    public sealed class WidthTests
    {
        [Fact(Explicit = true)]
        public void Vectors_are_as_wide_as_they_should_be()
        {
            int bits = int.Parse(Environment.GetEnvironmentVariable(WidthVariable) ?? "", CultureInfo.InvariantCulture);
            Assert.Equal(
                (bits >= 128, bits >= 256, bits >= 256, bits >= 256, bits >= 512, bits >= 512),
                (Vector128.IsHardwareAccelerated, Vector256.IsHardwareAccelerated, Avx2.IsSupported, Bmi2.X64.IsSupported,
                    Vector512.IsHardwareAccelerated, Avx512BW.IsSupported));
        }
    }
}

using System.Diagnostics;
using System.Globalization;
using Treepie.Backups;
using Treepie.Bench.Measuring;

namespace Treepie.Bench.Suites.Backups;

/// <summary>
/// What the compressor alone makes of the same bytes, which are in the page cache: the programs of the system, with the levels
/// and as many threads as backups use.
/// </summary>
internal static class CompressorAlone
{
    /// <summary>MB of content per second; null where there is no such program.</summary>
    public static async Task<double?> MegabytesPerSecondAsync(
        string content, BackupCompression compression, CancellationToken cancellationToken)
    {
        string threads = string.Create(CultureInfo.InvariantCulture, $"-T{Math.Min(4, Environment.ProcessorCount)}");
        (string program, string[] arguments) = compression switch
        {
            BackupCompression.ZstdFastest => ("zstd", (string[])["-2", threads, "-q", "-c", content]),
            BackupCompression.ZstdOptimal => ("zstd", ["-7", threads, "-q", "-c", content]),
            BackupCompression.GzipFastest => ("gzip", ["-1", "-c", content]),
            BackupCompression.GzipOptimal => ("gzip", ["-6", "-c", content]),
            _ => ("cat", [content]),
        };
        try
        {
            double seconds = await Timing.SecondsAsync(async () =>
            {
                // a new process, so never null
                using Process process = Process.Start(
                    new ProcessStartInfo(program, arguments) { RedirectStandardOutput = true })!;
                await process.StandardOutput.BaseStream.CopyToAsync(Stream.Null, 1 << 20, cancellationToken);
                await process.WaitForExitAsync(cancellationToken);
            });
            return new FileInfo(content).Length / 1e6 / seconds;
        }
        catch (System.ComponentModel.Win32Exception)
        {
            return null;
        }
    }
}

using System.Diagnostics;
using System.Globalization;
using Treepie.Backups;
using Treepie.Bench.Measuring;

namespace Treepie.Bench.Suites.Backups;

/// <summary>What the compressor alone makes of the same bytes: the programs of the system, with the levels and the threads that backups use.</summary>
internal static class CompressorAlone
{
    /// <summary>MB of JSON per second; null where there is no such program.</summary>
    public static async Task<double?> MegabytesPerSecondAsync(string json, BackupCompression compression, CancellationToken cancellationToken)
    {
        string threads = string.Create(CultureInfo.InvariantCulture, $"-T{Math.Max(1, Math.Min(4, Environment.ProcessorCount - 1))}");
        (string program, string[] arguments) = compression switch
        {
            BackupCompression.ZstdFastest => ("zstd", (string[])["-3", threads, "-q", "-c", json]),
            BackupCompression.ZstdOptimal => ("zstd", ["-7", threads, "-q", "-c", json]),
            BackupCompression.GzipFastest => ("gzip", ["-1", "-c", json]),
            BackupCompression.GzipOptimal => ("gzip", ["-6", "-c", json]),
            _ => ("cat", [json]),
        };
        try
        {
            double seconds = await Timing.SecondsAsync(async () =>
            {
                using Process process = Process.Start(new ProcessStartInfo(program, arguments) { RedirectStandardOutput = true })!; // a new process, so never null
                await process.StandardOutput.BaseStream.CopyToAsync(Stream.Null, 1 << 20, cancellationToken);
                await process.WaitForExitAsync(cancellationToken);
            });
            return new FileInfo(json).Length / 1e6 / seconds;
        }
        catch (System.ComponentModel.Win32Exception)
        {
            return null;
        }
    }
}

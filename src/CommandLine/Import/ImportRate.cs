using System.Globalization;

namespace Treepie.CommandLine.Import;

/// <summary>Figures derived from counts and elapsed time.</summary>
internal static class ImportRate
{
    /// <summary>Percentage of the file that is processed.</summary>
    public static double Percent(ImportCounts counts) =>
        counts.FileLength == 0 ? 100 : 100.0 * counts.FilePosition / counts.FileLength;

    /// <summary>Documents processed per second.</summary>
    public static double DocumentsPerSecond(ImportCounts counts, TimeSpan elapsed) =>
        counts.Done / Math.Max(elapsed.TotalSeconds, 0.001);

    /// <summary>Estimated remaining time as m:ss, assuming the same rate for the rest of the file.</summary>
    public static string Left(ImportCounts counts, TimeSpan elapsed)
    {
        if (counts.FilePosition == 0)
            return "-:--";

        TimeSpan left = elapsed * ((double)(counts.FileLength - counts.FilePosition) / counts.FilePosition);
        return string.Create(CultureInfo.InvariantCulture, $"{(int)left.TotalMinutes}:{left.Seconds:00}");
    }
}

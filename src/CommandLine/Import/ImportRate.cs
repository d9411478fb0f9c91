using System.Globalization;

namespace Treepie.CommandLine.Import;

/// <summary>What follows from counts and time.</summary>
internal static class ImportRate
{
    /// <summary>How much of the file is done, 0 to 100.</summary>
    public static double Percent(ImportCounts counts) =>
        counts.FileLength == 0 ? 100 : 100.0 * counts.FilePosition / counts.FileLength;

    /// <summary>Documents settled in a second.</summary>
    public static double DocumentsPerSecond(ImportCounts counts, TimeSpan elapsed) =>
        counts.Done / Math.Max(elapsed.TotalSeconds, 0.001);

    /// <summary>Time to the end if the rest of the file is like its beginning, as m:ss.</summary>
    public static string Left(ImportCounts counts, TimeSpan elapsed)
    {
        if (counts.FilePosition == 0)
            return "-:--";

        TimeSpan left = elapsed * ((double)(counts.FileLength - counts.FilePosition) / counts.FilePosition);
        return string.Create(CultureInfo.InvariantCulture, $"{(int)left.TotalMinutes}:{left.Seconds:00}");
    }
}

using System.Globalization;

namespace Treepie.CommandLine.Import;

/// <summary>Writes progress to logs and pipes, as a line every few seconds.</summary>
internal sealed class PlainImportProgress(TextWriter output, TimeProvider time) : IImportProgress
{
    private static readonly TimeSpan _interval = TimeSpan.FromSeconds(2);

    private readonly long _started = time.GetTimestamp();
    private long _lastLine = time.GetTimestamp();

    /// <inheritdoc/>
    public void Report(ImportCounts counts)
    {
        if (time.GetElapsedTime(_lastLine) < _interval)
            return;

        _lastLine = time.GetTimestamp();
        TimeSpan elapsed = time.GetElapsedTime(_started);
        output.WriteLine(string.Create(CultureInfo.InvariantCulture, $"""
            {ImportRate.Percent(counts):0} %  {counts.Done:N0} documents  {ImportRate.DocumentsPerSecond(counts, elapsed):N0}/s  {ImportRate.Left(counts, elapsed)} left
            """));
    }

    /// <inheritdoc/>
    public void Report(LineProblem problem) => output.WriteLine($"line {problem.Line}: {problem.Message}");
}

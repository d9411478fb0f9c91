using System.Globalization;
using Spectre.Console;

namespace Treepie.CommandLine.Import;

/// <summary>Shows progress as a progress bar, with skipped lines above it.</summary>
internal sealed class TerminalImportProgress : IImportProgress
{
    private readonly IAnsiConsole _console;
    private readonly TimeProvider _time;
    private readonly ProgressTask _task;
    private readonly long _started;

    private TerminalImportProgress(IAnsiConsole console, TimeProvider time, ProgressTask task)
    {
        _console = console;
        _time = time;
        _task = task;
        _started = time.GetTimestamp();
    }

    /// <summary>Shows the bar while <paramref name="work"/> runs.</summary>
    public static Task<T> RunAsync<T>(
        IAnsiConsole console, TimeProvider time, string title, Func<IImportProgress, Task<T>> work) =>
        console.Progress()
            .AutoClear(true)
            .Columns(new ProgressBarColumn(), new PercentageColumn(), new TaskDescriptionColumn { Alignment = Justify.Left })
            .StartAsync(
                context => work(new TerminalImportProgress(console, time, context.AddTask(Markup.Escape(title), maxValue: 100))));

    /// <inheritdoc/>
    public void Report(ImportCounts counts)
    {
        TimeSpan elapsed = _time.GetElapsedTime(_started);
        _task.Value = ImportRate.Percent(counts);
        _task.Description = string.Create(
            CultureInfo.InvariantCulture,
            $"{counts.Done:N0} documents, {ImportRate.DocumentsPerSecond(counts, elapsed):N0}/s, {counts.BytesSent / 1e6:N1} MB, "
                + $"{ImportRate.Left(counts, elapsed)} left");
    }

    /// <inheritdoc/>
    public void Report(LineProblem problem) => _console.WriteLine($"line {problem.Line}: {problem.Message}");
}

using System.Globalization;
using Spectre.Console;
using Treepie.Backups;

namespace Treepie.CommandLine.Backups;

/// <summary>
/// Shows the progress of a backup, restore or verification: a progress bar on a terminal, otherwise a line every few seconds.
/// </summary>
internal sealed class BackupDisplay : IProgress<BackupProgress>
{
    private static readonly TimeSpan _interval = TimeSpan.FromSeconds(2);

    private readonly Shell _shell;
    private readonly ProgressTask? _task;
    private readonly long _started;
    private long _lastLine;

    private BackupDisplay(Shell shell, ProgressTask? task)
    {
        _shell = shell;
        _task = task;
        _started = _lastLine = shell.Time.GetTimestamp();
    }

    /// <summary>Shows progress while <paramref name="work"/> runs.</summary>
    public static Task<T> RunAsync<T>(Shell shell, string title, Func<IProgress<BackupProgress>, Task<T>> work) =>
        shell.ErrorIsTerminal
            ? shell.ErrorConsole().Progress()
                .AutoClear(true)
                .Columns(new ProgressBarColumn(), new PercentageColumn(), new TaskDescriptionColumn { Alignment = Justify.Left })
                .StartAsync(context => work(new BackupDisplay(shell, context.AddTask(Markup.Escape(title), maxValue: 100))))
            : work(new BackupDisplay(shell, null));

    /// <inheritdoc/>
    public void Report(BackupProgress value)
    {
        double? percent = Percent(value);
        string text = Text(value, _shell.Time.GetElapsedTime(_started));
        if (_task is not null)
        {
            _task.IsIndeterminate = percent is null;
            _task.Value = percent ?? 0;
            _task.Description = Markup.Escape(text);
        }
        else if (_shell.Time.GetElapsedTime(_lastLine) >= _interval)
        {
            _lastLine = _shell.Time.GetTimestamp();
            _shell.Error.WriteLine(
                percent is { } known ? string.Create(CultureInfo.InvariantCulture, $"{known:0} %  {text}") : text);
        }
    }

    /// <summary>Percentage of the step that is done, or null if its total is unknown.</summary>
    internal static double? Percent(BackupProgress value) => value switch
    {
        { Step: BackupStep.Reading, StoredBytesTotal: > 0 } => Math.Min(100, 100.0 * value.StoredBytes / value.StoredBytesTotal),
        { PagesTotal: > 0 } => Math.Min(100, 100.0 * value.Pages / value.PagesTotal),
        { DocumentsTotal: > 0 } => Math.Min(100, 100.0 * value.Documents / value.DocumentsTotal),
        _ => null,
    };

    private static string Text(BackupProgress value, TimeSpan elapsed)
    {
        string step = value.Step switch
        {
            BackupStep.Writing => "writing",
            BackupStep.Reading => "reading",
            _ => "comparing",
        };
        string documents = value.Documents > 0 ? string.Create(CultureInfo.InvariantCulture, $", {value.Documents:N0} documents")
            : value.Pages > 0 ? string.Create(CultureInfo.InvariantCulture, $", {value.Pages:N0} of {value.PagesTotal:N0} pages")
            : "";
        return string.Create(
            CultureInfo.InvariantCulture,
            $"{step}{documents}, {value.StoredBytes / 1e6:N1} MB, "
                + $"{value.StoredBytes / 1e6 / Math.Max(elapsed.TotalSeconds, 0.001):N1} MB/s");
    }
}

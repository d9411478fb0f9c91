using System.Globalization;
using Spectre.Console;
using Treepie.Storage;

namespace Treepie.CommandLine.Offline;

/// <summary>
/// Shows the progress of a check or salvage of one environment: a progress bar on a terminal, otherwise a line every few seconds.
/// </summary>
internal sealed class OfflineProgress : IProgress<CheckProgress>
{
    private static readonly TimeSpan _interval = TimeSpan.FromSeconds(2);

    private readonly Shell _shell;
    private readonly string _name;
    private readonly ProgressTask? _task;
    private long _lastLine;

    private OfflineProgress(Shell shell, string name, ProgressTask? task)
    {
        _shell = shell;
        _name = name;
        _task = task;
        _lastLine = shell.Time.GetTimestamp();
    }

    /// <summary>Runs <paramref name="work"/> on another thread and shows its progress.</summary>
    public static Task<T> RunAsync<T>(Shell shell, string name, Func<IProgress<CheckProgress>, T> work) => shell.ErrorIsTerminal
        ? shell.ErrorConsole().Progress()
            .AutoClear(true)
            .Columns(new ProgressBarColumn(), new PercentageColumn(), new TaskDescriptionColumn { Alignment = Justify.Left })
            .StartAsync(
                context => Task.Run(
                    () => work(new OfflineProgress(shell, name, context.AddTask(Markup.Escape(name), maxValue: 100)))))
        : Task.Run(() => work(new OfflineProgress(shell, name, null)));

    /// <inheritdoc/>
    public void Report(CheckProgress value)
    {
        double percent = value.PagesTotal == 0 ? 100 : Math.Min(100, 100.0 * value.PagesDone / value.PagesTotal);
        string text = string.Create(
            CultureInfo.InvariantCulture, $"{_name}: {value.PagesDone:N0} of {value.PagesTotal:N0} {value.Step}");
        if (_task is not null)
        {
            _task.Value = percent;
            _task.Description = Markup.Escape(text);
        }
        else if (_shell.Time.GetElapsedTime(_lastLine) >= _interval)
        {
            _lastLine = _shell.Time.GetTimestamp();
            _shell.Error.WriteLine(text);
        }
    }
}

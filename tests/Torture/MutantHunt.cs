using System.Diagnostics;
using System.Globalization;
using Treepie.Tests.Support;

namespace Treepie.Torture;

/// <summary>Each mutant of the engine in a process of its own: noticed by a broken promise, by the death of the process, or because it hangs.</summary>
internal sealed class MutantHunt
{
    private readonly List<(string Name, string What)> _mutants;
    private readonly string _program;
    private readonly List<string> _survivors = [];
    private readonly Action<string> _say;
    private int _next;
    private int _killed;

    public MutantHunt(Action<string> say)
    {
        _say = say;
        _program = Find();
        _mutants = [.. Run(0, TimeSpan.FromSeconds(30), "--list").Output.Split('\n', StringSplitOptions.RemoveEmptyEntries).Select(line => (line.Split('\t')[0], line.Split('\t')[^1]))];
    }

    public int Count => _mutants.Count;

    public int Killed => _killed;

    /// <summary>Mutants that nothing noticed.</summary>
    public IReadOnlyList<string> Survivors => _survivors;

    /// <summary>Hunts all of them; each gets so much time.</summary>
    public void Run(TimeSpan time, int threads)
    {
        Thread[] workers = [.. Enumerable.Range(0, threads).Select(_ => new Thread(() => Work(time)) { IsBackground = true })];
        foreach (Thread worker in workers)
            worker.Start();
        foreach (Thread worker in workers)
            worker.Join();
    }

    private void Work(TimeSpan time)
    {
        while (Interlocked.Increment(ref _next) is var number && number <= _mutants.Count)
        {
            (string name, string what) = _mutants[number - 1];
            (int code, string output) = Run(number, time + TimeSpan.FromSeconds(20), "--seconds", time.TotalSeconds.ToString("0", CultureInfo.InvariantCulture));
            if (code == 0)
            {
                lock (_survivors)
                    _survivors.Add($"{name}: {what}");
                _say($"mutant {name} SURVIVES: {what}");
            }
            else
            {
                Interlocked.Increment(ref _killed);
                _say($"mutant {name}: {(output.Length == 0 ? "hangs" : output.Split('\n')[0])}");
            }
        }
    }

    private (int Code, string Output) Run(int mutant, TimeSpan limit, params ReadOnlySpan<string> arguments)
    {
        ProcessStartInfo start = BuiltProgram.StartInfo(_program, arguments);
        start.Environment["TREEPIE_MUTANT"] = mutant.ToString(CultureInfo.InvariantCulture);
        using Process process = Process.Start(start) ?? throw new InvalidOperationException($"'{_program}' did not start.");
        process.StandardInput.Close();
        Task<string> errors = process.StandardError.ReadToEndAsync();
        Task<string> output = process.StandardOutput.ReadToEndAsync();
        if (!process.WaitForExit(limit))
        {
            process.Kill();
            process.WaitForExit();
            return (-1, "");
        }

        string said = output.GetAwaiter().GetResult().Trim();
        return (process.ExitCode, said.Length > 0 ? said : "the process died: " + errors.GetAwaiter().GetResult().Split('\n')[0]);
    }

    private static string Find()
    {
        var framework = new DirectoryInfo(AppContext.BaseDirectory.TrimEnd(Path.DirectorySeparatorChar));
        string configuration = framework.Parent?.Name ?? "Debug";
        string path = Path.Combine(DataSets.RepositoryRoot, "tests", "Mutants", "bin", configuration, framework.Name, "Treepie.Mutants.dll");
        return File.Exists(path) ? path : throw new InvalidOperationException($"There is no {path}: build tests/Mutants in {configuration} first.");
    }
}

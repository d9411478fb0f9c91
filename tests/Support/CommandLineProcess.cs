using System.Diagnostics;

namespace Treepie.Tests.Support;

/// <summary>A completed run of the real command line.</summary>
/// <param name="ExitCode">Its exit code.</param>
/// <param name="Output">All of its standard output.</param>
/// <param name="Error">All of its standard error.</param>
public sealed record CommandLineProcess(int ExitCode, string Output, string Error)
{
    /// <summary>No command in a test takes longer unless it hangs.</summary>
    private static readonly TimeSpan _patience = TimeSpan.FromMinutes(5);

    /// <summary>Runs <c>treepie</c> with these arguments.</summary>
    public static async Task<CommandLineProcess> RunAsync(params string[] arguments)
    {
        using Process process = Start(arguments);
        process.StandardInput.Close();
        Task<string> output = process.StandardOutput.ReadToEndAsync(TestContext.Current.CancellationToken);
        Task<string> error = process.StandardError.ReadToEndAsync(TestContext.Current.CancellationToken);
        try
        {
            await process.WaitForExitAsync(TestContext.Current.CancellationToken).WaitAsync(_patience);
            return new CommandLineProcess(process.ExitCode, await output, await error);
        }
        finally
        {
            if (!process.HasExited)
                process.Kill();
        }
    }

    /// <summary>Runs <c>treepie</c> and asserts success.</summary>
    public static async Task<CommandLineProcess> SucceedAsync(params string[] arguments)
    {
        CommandLineProcess run = await RunAsync(arguments);
        Assert.True(
            run.ExitCode == 0,
            $"treepie {string.Join(' ', arguments)}\nended with {run.ExitCode} and wrote\n{run.Output}{run.Error}");
        return run;
    }

    /// <summary>Starts <c>treepie</c>, for tests that end it themselves.</summary>
    public static Process Start(params string[] arguments) =>
        Process.Start(BuiltProgram.StartInfo(BuiltProgram.CommandLine, arguments))
        ?? throw new InvalidOperationException("The command line could not be started.");
}

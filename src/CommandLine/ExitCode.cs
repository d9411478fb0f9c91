namespace Treepie.CommandLine;

/// <summary>What the program tells the shell.</summary>
internal static class ExitCode
{
    /// <summary>Done, all of it.</summary>
    public const int Ok = 0;

    /// <summary>
    /// The server, a file or a document stood in the way; standard error says which. Lines skipped by an import count as well.
    /// </summary>
    public const int Failure = 1;

    /// <summary>The command line itself is wrong; nothing was done.</summary>
    public const int Usage = 2;

    /// <summary>Ctrl-C or SIGTERM: what was acknowledged stays. 128 + SIGINT, as shells have it.</summary>
    public const int Cancelled = 130;
}

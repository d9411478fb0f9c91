namespace Treepie.CommandLine;

/// <summary>Exit codes of the program.</summary>
internal static class ExitCode
{
    /// <summary>Everything was done.</summary>
    public const int Ok = 0;

    /// <summary>
    /// A server, file or document caused a failure, described on standard error. Also returned if an import skipped lines.
    /// </summary>
    public const int Failure = 1;

    /// <summary>The command line is wrong; nothing was done.</summary>
    public const int Usage = 2;

    /// <summary>Ctrl-C or SIGTERM; acknowledged changes are kept. 128 + SIGINT, the convention of shells.</summary>
    public const int Cancelled = 130;
}

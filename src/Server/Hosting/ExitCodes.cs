namespace Treepie.Server.Hosting;

/// <summary>The exit codes of the program.</summary>
internal static class ExitCodes
{
    /// <summary>The server was stopped on request.</summary>
    public const int Success = 0;

    /// <summary>The server could not start, because of the data directory or the address.</summary>
    public const int CannotStart = 1;

    /// <summary>The command line is not valid, or requests something that is not allowed.</summary>
    public const int BadCommandLine = 2;
}

namespace Treepie.Server.Hosting;

/// <summary>How the program ends.</summary>
internal static class ExitCodes
{
    /// <summary>Stopped because it was asked to.</summary>
    public const int Success = 0;

    /// <summary>Could not start: the data directory, or the address.</summary>
    public const int CannotStart = 1;

    /// <summary>The command line is not understood, or asks for what is refused.</summary>
    public const int BadCommandLine = 2;
}

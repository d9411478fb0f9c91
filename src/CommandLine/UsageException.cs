namespace Treepie.CommandLine;

/// <summary>The command line asks for something that cannot be meant; ends with <see cref="ExitCode.Usage"/>.</summary>
internal sealed class UsageException(string message) : Exception(message);

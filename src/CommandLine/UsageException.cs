namespace Treepie.CommandLine;

/// <summary>The command line is not valid. The process ends with <see cref="ExitCode.Usage"/>.</summary>
internal sealed class UsageException(string message) : Exception(message);

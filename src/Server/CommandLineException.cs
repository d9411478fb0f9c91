namespace Treepie.Server;

/// <summary>The command line cannot be understood. The message says why.</summary>
internal sealed class CommandLineException(string message) : Exception(message);

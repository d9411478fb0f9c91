namespace Treepie.Server;

/// <summary>Thrown when the command line is not valid. The message says why.</summary>
internal sealed class CommandLineException(string message) : Exception(message);

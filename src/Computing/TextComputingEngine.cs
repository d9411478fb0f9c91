namespace Treepie.Computing;

/// <summary>
/// Compiles JavaScript (by Jint) and C# texts (by Roslyn's parser; they are never run as C#) for a database: give it to <see cref="DatabaseOptions.Computing"/>.
/// Immutable and thread-safe; one serves any number of databases.
/// </summary>
public sealed class TextComputingEngine : ComputingEngine
{
}

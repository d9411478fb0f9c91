using Treepie.Computations;

namespace Treepie.Computing;

/// <summary>
/// Compiles JavaScript (by Jint) and C# texts (by Roslyn's parser; they are never run as C#) for a database: give it to <see cref="DatabaseOptions.Computing"/>.
/// Immutable and thread-safe; one serves any number of databases.
/// </summary>
public sealed class TextComputingEngine : ComputingEngine
{
    internal override IndexMap CompileMap(IndexTexts index, string text) =>
        throw new InvalidIndexDefinitionException(index.IndexName, "Maps", "maps that compute are not built yet.");

    internal override IndexReduce CompileReduce(IndexTexts index, string text) =>
        throw new InvalidIndexDefinitionException(index.IndexName, "Reduce", "reduces are not built yet.");
}

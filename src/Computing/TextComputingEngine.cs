using Treepie.Computations;
using Treepie.Computing.CSharp;

namespace Treepie.Computing;

/// <summary>
/// Compiles JavaScript (by Jint) and C# texts (by Roslyn's parser; they are never run as C#) for a database: give it to <see cref="DatabaseOptions.Computing"/>.
/// Immutable and thread-safe; one serves any number of databases.
/// </summary>
public sealed class TextComputingEngine : ComputingEngine
{
    internal override IndexMap CompileMap(IndexTexts index, string text) => CSharpMap.Compile(index, text);

    internal override IndexReduce CompileReduce(IndexTexts index, string text) => CSharpReduce.Compile(index, text);
}

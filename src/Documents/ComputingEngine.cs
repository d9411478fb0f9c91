using Treepie.Computations;

namespace Treepie;

/// <summary>
/// Compiles code: scripts of patches and queries, maps and reduces of indexes. Implemented by the package Treepie.Computing;
/// without an engine, a database rejects such code. Thread-safe.
/// </summary>
public abstract class ComputingEngine
{
    internal ComputingEngine()
    {
    }

    /// <summary>Compiles JavaScript functions that can call each other.</summary>
    /// <param name="functions">The functions.</param>
    /// <param name="takesAnyStatements">Whether their statements are not limited; other limits still apply.</param>
    /// <exception cref="ScriptException">A function is not valid; gives line and column.</exception>
    internal abstract Script CompileScript(IReadOnlyList<ScriptFunction> functions, bool takesAnyStatements = false);

    /// <summary>Compiles a map of an index, in C# or JavaScript.</summary>
    /// <exception cref="InvalidIndexDefinitionException">The text is not a map; gives line and column.</exception>
    internal abstract IndexMap CompileMap(IndexTexts index, string text);

    /// <summary>Compiles the reduce of an index, in C# or JavaScript.</summary>
    /// <exception cref="InvalidIndexDefinitionException">The text is not a reduce; gives line and column.</exception>
    internal abstract IndexReduce CompileReduce(IndexTexts index, string text);
}

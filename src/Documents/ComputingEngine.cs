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

    /// <summary>Compiles functions that can call each other, in JavaScript.</summary>
    /// <param name="functions">The functions.</param>
    /// <param name="takesAnyStatements">Whether their statements are not counted; the other limits hold.</param>
    /// <exception cref="ScriptException">One of them is no script, with line and column.</exception>
    internal abstract Script CompileScript(IReadOnlyList<ScriptFunction> functions, bool takesAnyStatements = false);

    /// <summary>Compiles a map of an index, in C# or JavaScript.</summary>
    /// <exception cref="InvalidIndexDefinitionException">It is not one, with line and column.</exception>
    internal abstract IndexMap CompileMap(IndexTexts index, string text);

    /// <summary>Compiles the reduce of an index, in C# or JavaScript.</summary>
    /// <exception cref="InvalidIndexDefinitionException">It is not one, with line and column.</exception>
    internal abstract IndexReduce CompileReduce(IndexTexts index, string text);
}

using Treepie.Computations;
using Treepie.Computing.CSharp;
using Treepie.Computing.JavaScript;

namespace Treepie.Computing;

/// <summary>
/// Compiles JavaScript (by Jint) and C# texts (by Roslyn's parser; they are never run as C#) for a database: give it to <see cref="DatabaseOptions.Computing"/>.
/// Immutable and thread-safe; one serves any number of databases.
/// </summary>
public sealed class TextComputingEngine : ComputingEngine
{
    private readonly ScriptLimits _limits;

    /// <summary>An engine with the limits that scripts have by default.</summary>
    public TextComputingEngine()
        : this(new ScriptLimits())
    {
    }

    /// <summary>An engine with limits of one's own.</summary>
    public TextComputingEngine(ScriptLimits limits)
    {
        ArgumentNullException.ThrowIfNull(limits);
        limits.Validate();
        _limits = limits;
    }

    internal override Script CompileScript(IReadOnlyList<ScriptFunction> functions) => CompiledScript.Compile(functions, _limits);

    internal override IndexMap CompileMap(IndexTexts index, string text) => CSharpMap.Compile(index, text);

    internal override IndexReduce CompileReduce(IndexTexts index, string text) => CSharpReduce.Compile(index, text);
}

using Treepie.Computations;

namespace Treepie.Writes;

/// <summary>
/// A compiled patch: a script that changes a document, which is <c>this</c>; its arguments are in <c>args</c>. Thread-safe. See
/// <see cref="WriteBatch.Patch"/>.
/// </summary>
public sealed class Patch
{
    internal const string Function = "patch";

    private Patch(Script script, DeclaredSeries? series = null) => (Script, Series) = (script, series);

    internal Script Script { get; }

    /// <summary>Runs the time series that are declared beside the patch; null if it has none.</summary>
    internal DeclaredSeries? Series { get; }

    /// <summary>Compiles a patch, which can be reused any number of times.</summary>
    /// <param name="script">Statements in JavaScript.</param>
    /// <param name="options">The options of the database, including the engine that compiles scripts:
    /// <see cref="DatabaseOptions.Computing"/>.</param>
    /// <exception cref="ScriptException">The script is not valid, or no engine is configured.</exception>
    public static Patch Compile(string script, DatabaseOptions options)
    {
        ArgumentNullException.ThrowIfNull(script);
        ArgumentNullException.ThrowIfNull(options);
        return Compile(options.Computing, new ScriptFunction(Function, ["args"], script), []);
    }

    /// <summary>Creates a patch that changes single values in order, without compiling a script.</summary>
    internal static Patch Of(params IReadOnlyList<MemberEdit> edits) => new(new MemberPatch(edits));

    /// <summary>Compiles a patch that calls other functions.</summary>
    /// <exception cref="ScriptException">The script is not valid, or no engine is configured.</exception>
    internal static Patch Compile(
        ComputingEngine? engine, ScriptFunction patch, IReadOnlyList<ScriptFunction> functions,
        bool takesAnyStatements = false, DeclaredSeries? series = null) =>
        engine is null
            ? throw new ScriptException(
                "Scripts need an engine that compiles them: add the package Treepie.Computing, and set DatabaseOptions.Computing "
                    + "= new TextComputingEngine().")
            : new Patch(engine.CompileScript([.. functions, patch], takesAnyStatements), series);
}

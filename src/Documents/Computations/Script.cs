using System.Buffers;
using System.Text.Json;

namespace Treepie.Computations;

/// <summary>
/// A compiled script: functions that can be called with documents. Thread-safe: concurrent calls run on separate engines.
/// </summary>
internal abstract class Script
{
    /// <summary>Calls a function of the script.</summary>
    /// <param name="function">Its name.</param>
    /// <param name="call">The arguments.</param>
    /// <param name="host">What the script may access.</param>
    /// <param name="output">Receives the result as JSON: with <see cref="ScriptCall.ReturnsThis"/>, <c>this</c> after the
    /// call, otherwise the return value; nothing if that is <c>undefined</c>.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="ScriptException">The script failed or exceeded a limit.</exception>
    public abstract void Call(
        string function, in ScriptCall call, IScriptHost host, IBufferWriter<byte> output, CancellationToken cancellationToken);
}

/// <summary>The arguments of a call of a script function.</summary>
/// <param name="This">A JSON object, passed as <c>this</c>; empty if there is none.</param>
/// <param name="Arguments">The arguments as JSON values, in order.</param>
/// <param name="ReturnsThis">Whether to return <c>this</c> after the call instead of the return value.</param>
internal readonly record struct ScriptCall(ReadOnlyMemory<byte> This, IReadOnlyList<JsonElement> Arguments, bool ReturnsThis);

/// <summary>A function of a script, with its position in the user's source text.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Parameters">The names of its parameters.</param>
/// <param name="Body">Its statements, without braces.</param>
/// <param name="Line">The line of the first character of the body in the source text, starting at 1.</param>
/// <param name="Column">The column of that character, starting at 1.</param>
internal sealed record ScriptFunction(string Name, IReadOnlyList<string> Parameters, string Body, int Line = 1, int Column = 1)
{
    /// <summary>
    /// The name of the function that runs a time series that the query declares, given by its number. No parameter of a query
    /// has this name.
    /// </summary>
    public const string DeclaredTimeSeries = "$$series";

    /// <summary>The name of the function that folds a text as indexes do, so that texts without case are equal.</summary>
    public const string Fold = "$$fold";

    /// <summary>The name of the function that compares two texts as indexes do: less than, equal to or greater than 0.</summary>
    public const string Order = "$$order";
}

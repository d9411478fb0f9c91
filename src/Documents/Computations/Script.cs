using System.Buffers;
using System.Text.Json;

namespace Treepie.Computations;

/// <summary>
/// A compiled script: functions that can be called with documents. Thread-safe: callers at the same time run on engines of their
/// own.
/// </summary>
internal abstract class Script
{
    /// <summary>Calls a function of the script.</summary>
    /// <param name="function">Its name.</param>
    /// <param name="call">What it is given.</param>
    /// <param name="host">What it may do.</param>
    /// <param name="output">
    /// Takes what it gives as JSON: of <see cref="ScriptCall.ReturnsThis"/> the first argument as it is then, else the result;
    /// nothing where that is <c>undefined</c>.
    /// </param>
    /// <param name="cancellationToken">Ends it.</param>
    /// <exception cref="ScriptException">It failed, or went over a limit.</exception>
    public abstract void Call(
        string function, in ScriptCall call, IScriptHost host, IBufferWriter<byte> output, CancellationToken cancellationToken);
}

/// <summary>What a function of a script is called with.</summary>
/// <param name="This">A JSON object, which is <c>this</c>; empty: nothing is.</param>
/// <param name="Arguments">JSON values, in their order.</param>
/// <param name="ReturnsThis">Whether what is asked for is <c>this</c>, as the function leaves it.</param>
internal readonly record struct ScriptCall(ReadOnlyMemory<byte> This, IReadOnlyList<JsonElement> Arguments, bool ReturnsThis);

/// <summary>A function that a script is made of: its text stands somewhere in a text that somebody wrote.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Parameters">Names of its parameters.</param>
/// <param name="Body">Its statements, without brackets.</param>
/// <param name="Line">Line of the first character of the body in the text, from 1 on.</param>
/// <param name="Column">Its column there, from 1 on.</param>
internal sealed record ScriptFunction(string Name, IReadOnlyList<string> Parameters, string Body, int Line = 1, int Column = 1);

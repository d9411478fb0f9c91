using System.Buffers;
using System.Text.Json;
using Jint;
using Jint.Constraints;
using Jint.Native;
using Jint.Runtime;
using Treepie.Computations;

namespace Treepie.Computing.JavaScript;

/// <summary>One engine with one script in it, for one caller at a time.</summary>
internal sealed class ScriptEngine : IDisposable
{
    /// <summary>Longest result, in bytes: the longest document that a database takes by default.</summary>
    private const int MaxResultBytes = 32 << 20;

    private const string Freeze = """
        for (const name of Object.getOwnPropertyNames(globalThis)) {
            const value = globalThis[name];
            if (value !== null && (typeof value === 'function' || typeof value === 'object') && value !== globalThis) {
                Object.freeze(value);
                if (value.prototype) Object.freeze(value.prototype);
            }
        }
        Object.freeze(globalThis);
        """;

    private const string Remove = """
        for (const name of ['BigInt', 'ArrayBuffer', 'SharedArrayBuffer', 'DataView', 'Atomics', 'BigInt64Array', 'BigUint64Array', 'Float16Array', 'Float32Array', 'Float64Array',
            'Int8Array', 'Int16Array', 'Int32Array', 'Uint8Array', 'Uint8ClampedArray', 'Uint16Array', 'Uint32Array'])
            delete globalThis[name];
        """;

    private readonly Engine _engine;
    private readonly OperationDeadlineConstraint _deadline = new();
    private readonly ScriptLimits _limits;
    private readonly ScriptFunctions _functions;

    public ScriptEngine(Prepared<Acornima.Ast.Script> program, ScriptLimits limits)
    {
        _limits = limits;
        _engine = new Engine(options =>
        {
            options.Strict();
            options.MaxStatements(limits.MaxStatements);
            options.LimitMemory(limits.MaxMemoryBytes);
            options.Constraint(_deadline);
            options.Constraints.MaxRecursionDepth = limits.MaxDepth;
            options.Constraints.StackOverflowGuard = true;
            options.Constraints.MaxArraySize = (uint)limits.MaxLength;
            options.Constraints.RegexTimeout = limits.MaxRegexTime;
            options.Host.StringCompilationAllowed = false;
        });
        _functions = new ScriptFunctions(_engine, limits);
        _engine.Execute(Remove); // one call of these takes as much memory or time as it likes
        _engine.Execute(program);
        _engine.Execute(Freeze); // what one document's call leaves behind must not meet the next
    }

    public void Dispose() => _engine.Dispose();

    public void Call(
        string function, in ScriptCall call, IScriptHost host, IBufferWriter<byte> output, CancellationToken cancellationToken)
    {
        using JsonDocument? document = call.This.IsEmpty
            ? null
            : JsonDocument.Parse(call.This, new JsonDocumentOptions { MaxDepth = 1_024 });
        _functions.Begin(host);
        _deadline.Begin(_limits.MaxTime, cancellationToken);
        try
        {
            JsValue subject = document is null ? JsValue.Undefined : ScriptJson.Read(_engine, document.RootElement);
            var arguments = new JsValue[call.Arguments.Count];
            for (int i = 0; i < arguments.Length; i++)
                arguments[i] = ScriptJson.Read(_engine, call.Arguments[i]);
            JsValue result = _engine.Call(_engine.GetValue(function), subject, arguments);
            ScriptJson.Write(
                call.ReturnsThis ? subject : result, call.ReturnsThis && document is not null ? document.RootElement : default,
                output, MaxResultBytes);
        }
        finally
        {
            _deadline.End();
            _functions.End();
        }
    }

    /// <summary>What is said where a limit ended a script; null where it was something else.</summary>
    public static string? LimitOf(Exception error, ScriptLimits limits) => error switch
    {
        StatementsCountOverflowException =>
            $"The script took more than {limits.MaxStatements:N0} statements, the limit for one document.",
        MemoryLimitExceededException =>
            $"The script took more than {limits.MaxMemoryBytes:N0} bytes of memory, the limit for one document.",
        RecursionDepthOverflowException =>
            $"The script called more than {limits.MaxDepth} functions within each other, the limit.",
        System.Text.RegularExpressions.RegexMatchTimeoutException =>
            $"A regular expression of the script took more than {limits.MaxRegexTime.TotalMilliseconds:0} ms, the limit.",
        TimeoutException => $"The script took more than {limits.MaxTime.TotalMilliseconds:0} ms, the limit for one document.",
        OutOfMemoryException => "The script made something longer than can be.",
        InsufficientExecutionStackException => "The script is nested too deep.",
        _ => null,
    };
}

using System.Globalization;
using Jint;
using Jint.Constraints;
using Jint.Runtime;

namespace Treepie.Computing.JavaScript;

/// <summary>
/// An engine with programs in it that no call can leave: its limits, the functions that all scripts have, and nothing that can be
/// changed. Every script of the database runs in one, be it of a patch, a query or an index. One caller at a time.
/// </summary>
internal sealed class ScriptSandbox : IDisposable
{
    /// <summary>What takes as much memory or time as it likes in one call, or changes while nothing else does.</summary>
    private const string Remove = """
        for (const name of ['BigInt', 'ArrayBuffer', 'SharedArrayBuffer', 'DataView', 'Atomics', 'BigInt64Array', 'BigUint64Array', 'Float16Array', 'Float32Array', 'Float64Array',
            'Int8Array', 'Int16Array', 'Int32Array', 'Uint8Array', 'Uint8ClampedArray', 'Uint16Array', 'Uint32Array', 'ShadowRealm', 'WeakRef', 'FinalizationRegistry'])
            delete globalThis[name];
        """;

    /// <summary>What one document's call leaves behind must not meet the next.</summary>
    private const string Freeze = """
        (() => {
            for (const name of Object.getOwnPropertyNames(globalThis)) {
                const value = globalThis[name];
                if (value !== null && (typeof value === 'function' || typeof value === 'object') && value !== globalThis) {
                    Object.freeze(value);
                    if (value.prototype) Object.freeze(value.prototype);
                }
            }
            for (let hidden of [[].values(), ''[Symbol.iterator](), new Map().values(), new Set().values(), 'a'.matchAll(/a/g), function* () {}(), function* () {}, async () => {}])
                while (hidden = Object.getPrototypeOf(hidden))
                    Object.freeze(hidden);
            Object.freeze(globalThis);
        })();
        """;

    private readonly OperationDeadlineConstraint _deadline = new();
    private readonly ScriptLimits _limits;

    /// <param name="limits">Limits of the programs, and of each call later.</param>
    /// <param name="define">Defines the functions of the purpose.</param>
    /// <param name="prelude">A program that is run before the others, where the language can still be changed.</param>
    /// <param name="programs">Declarations of functions, whose bodies run in calls alone.</param>
    /// <exception cref="JintException">A program failed.</exception>
    public ScriptSandbox(
        ScriptLimits limits, Action<Engine> define, string prelude, IEnumerable<Prepared<Acornima.Ast.Script>> programs)
    {
        _limits = limits;
        Engine = new Engine(options =>
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
            options.Culture = CultureInfo.InvariantCulture;
            options.TimeZone = TimeZoneInfo.Utc; // what a script gives does not depend on the machine
        });
        LengthGuards.Put(Engine, limits.MaxLength);
        SharedFunctions.Put(Engine, limits);
        define(Engine);
        try
        {
            // Without a deadline: nothing of the user runs here, and the first engine of a process is slow to be made.
            Engine.Execute(Remove);
            Engine.Execute(prelude);
            foreach (Prepared<Acornima.Ast.Script> program in programs)
                Engine.Execute(program);
            Engine.Execute(Freeze);
        }
        catch
        {
            Engine.Dispose();
            throw;
        }
    }

    /// <summary>The engine.</summary>
    public Engine Engine { get; }

    /// <summary>Begins the time that calls have until <see cref="End"/>.</summary>
    public void Begin(CancellationToken cancellationToken) => _deadline.Begin(_limits.MaxTime, cancellationToken);

    /// <summary>Ends what was begun.</summary>
    public void End() => _deadline.End();

    public void Dispose() => Engine.Dispose();

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
        OutOfMemoryException or OverflowException => "The script made something longer than can be.",
        InsufficientExecutionStackException => "The script is nested too deep.",
        _ => null,
    };
}

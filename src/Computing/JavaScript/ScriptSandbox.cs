using System.Globalization;
using Jint;
using Jint.Constraints;
using Jint.Runtime;

namespace Treepie.Computing.JavaScript;

/// <summary>
/// An isolated engine with programs: limited, with the functions that all scripts have, and with frozen globals. Every
/// script of the database runs in one, whether from a patch, a query or an index. Not thread-safe.
/// </summary>
internal sealed class ScriptSandbox : IDisposable
{
    /// <summary>
    /// Removes globals that can use unlimited memory or time in one call, or change asynchronously, and those that make objects
    /// whose prototypes cannot be found to be frozen.
    /// </summary>
    private static readonly Prepared<Acornima.Ast.Script> _remove = Engine.PrepareScript(
        """
        for (const name of ['BigInt', 'ArrayBuffer', 'SharedArrayBuffer', 'DataView', 'Atomics', 'BigInt64Array',
            'BigUint64Array', 'Float16Array', 'Float32Array', 'Float64Array', 'Int8Array', 'Int16Array', 'Int32Array',
            'Uint8Array', 'Uint8ClampedArray', 'Uint16Array', 'Uint32Array', 'ShadowRealm', 'WeakRef', 'FinalizationRegistry',
            'Intl', 'Temporal'])
            delete globalThis[name];
        delete Date.prototype.toTemporalInstant;
        """, strict: true);

    private readonly OperationDeadlineConstraint _deadline = new();
    private readonly ScriptLimits _limits;

    /// <param name="limits">The limits of the programs and of each call.</param>
    /// <param name="define">Defines the functions for the purpose of the engine.</param>
    /// <param name="prelude">A program that runs before the others, while globals can still be changed; null for none.</param>
    /// <param name="programs">Function declarations, whose bodies run in calls only.</param>
    /// <exception cref="JintException">A program failed.</exception>
    public ScriptSandbox(
        ScriptLimits limits, Action<ScriptSandbox> define, Prepared<Acornima.Ast.Script>? prelude,
        IEnumerable<Prepared<Acornima.Ast.Script>> programs)
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
            options.TimeZone = TimeZoneInfo.Utc; // results must not depend on the machine
        });
        LengthGuards.Put(Engine, limits.MaxLength);
        SharedFunctions.Put(Engine, limits);
        define(this);
        try
        {
            // Runs without a deadline, as no user code runs here and creating the first engine of a process is slow.
            Engine.Execute(_remove);
            if (prelude is { } first)
                Engine.Execute(first);
            foreach (Prepared<Acornima.Ast.Script> program in programs)
                Engine.Execute(program);
            FrozenGlobals.Freeze(Engine);
        }
        catch
        {
            Engine.Dispose();
            throw;
        }
    }

    /// <summary>The engine.</summary>
    public Engine Engine { get; }

    /// <summary>Runs a call, which the limits of time and memory apply to as a whole.</summary>
    /// <exception cref="MemoryLimitExceededException">The call allocated more than it may.</exception>
    /// <exception cref="OutOfMemoryException">The process has no memory; the call is within its limit.</exception>
    public void Run(Action call, CancellationToken cancellationToken)
    {
        long allocatedBefore = GC.GetAllocatedBytesForCurrentThread();
        _deadline.Begin(_limits.MaxTime, cancellationToken);
        try
        {
            call();
        }
        catch (OutOfMemoryException error)
            when (GC.GetAllocatedBytesForCurrentThread() - allocatedBefore > _limits.MaxMemoryBytes)
        {
            throw new MemoryLimitExceededException(error.Message);
        }
        finally
        {
            _deadline.End();
        }
    }

    /// <summary>Returns what writing one value of the current call may take.</summary>
    /// <param name="maxBytes">The maximum size of the output, in bytes.</param>
    /// <exception cref="TimeoutException">The time of the call is over.</exception>
    public WriteBudget BudgetOfWrite(int maxBytes) => new(_deadline, _limits.MaxMemoryBytes, maxBytes);

    public void Dispose() => Engine.Dispose();

    /// <summary>Returns a message if a limit ended a script; null for other errors.</summary>
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
        OverflowException => "The script made something longer than can be.",
        InsufficientExecutionStackException => "The script is nested too deep.",
        _ => null,
    };
}

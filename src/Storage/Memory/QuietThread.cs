using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;

namespace Treepie.Storage.Memory;

/// <summary>
/// Threads that the system schedules behind others, for work that nobody waits for: what they compute gets what others leave, and
/// some of a core where these leave nothing. Threads that are begun there, by a library for instance, are scheduled so too. Where
/// the system does not know that (only Linux does), they are ordinary threads.
/// </summary>
/// <remarks>
/// A quiet thread ends with what it runs: a process may lower a thread's priority, and not raise it again. What is begun on it is
/// as quiet, threads of the runtime too: so nothing that runs there may give work to the thread pool, which would begin threads
/// for others there; it leaves what is to be told to somebody who waits on an ordinary thread.
/// </remarks>
public static unsafe class QuietThread
{
    /// <summary>
    /// Of what nobody ever waits for: nicer by 12 than the process, which is a weight of 70 where an ordinary thread has 1,024,
    /// so a fifteenth of a core that another thread wants too.
    /// </summary>
    public const int Quiet = 12;

    /// <summary>
    /// Of what must not fall behind: nicer by 5, a weight of 335, so a quarter of a core that another thread wants too, which
    /// keeps an index going on a machine that is busy for ever. Not more: a collection of garbage waits until every thread has
    /// stopped, and one that is not let run does not stop.
    /// </summary>
    public const int Steady = 5;

    private const string Name = "treepie quiet";

    private const int HighestNice = 19;

    /// <summary>
    /// The system's policy of threads that compute: they take a processor from nobody when they wake, but wait until who has it
    /// gives it up or its turn is over.
    /// </summary>
    private const int BatchPolicy = 3;

    /// <summary>The policy that is left for it; any other was chosen by who began the process.</summary>
    private const int OrdinaryPolicy = 0;

    /// <summary>To the calls: a thread or process by its number, 0 the calling thread.</summary>
    private const int WhichProcess = 0;

    /// <summary>Stack of a thread that runs what is known not to be deep.</summary>
    private const int SmallStackBytes = 256 * 1024;

    private static readonly Lazy<(nint Get, nint Set, nint GetPolicy, nint SetPolicy)> _calls = new(FindCalls);

    /// <summary>Whether the system knows quiet threads.</summary>
    public static bool IsSupported => _calls.Value.Set != 0;

    /// <summary>Runs something that needs little stack (256 KiB) to its end; what it throws is thrown here.</summary>
    /// <param name="work">What is to be done; threads that it begins are as quiet for as long as they live.</param>
    /// <param name="nice">How quietly: <see cref="Quiet"/> or <see cref="Steady"/>.</param>
    public static void Run(Action work, int nice)
    {
        ArgumentNullException.ThrowIfNull(work);
        ExceptionDispatchInfo? failure = null;
        Thread thread = Make(
            () =>
            {
                try
                {
                    work();
                }
                catch (Exception error)
                {
                    failure = ExceptionDispatchInfo.Capture(error);
                }
            },
            nice,
            SmallStackBytes);
        thread.Start();
        thread.Join();
        failure?.Throw();
    }

    /// <summary>
    /// Begins something on a thread of its own, and does not wait for it. It must not throw. The process does not wait for it
    /// either.
    /// </summary>
    /// <param name="work">What is to be done.</param>
    /// <param name="nice">How quietly: <see cref="Quiet"/> or <see cref="Steady"/>.</param>
    public static void Start(Action work, int nice)
    {
        ArgumentNullException.ThrowIfNull(work);
        _ = _calls.Value; // before anything runs on the thread, see below
        Make(work, nice, stackBytes: 0).Start();
    }

    private static Thread Make(Action work, int nice, int stackBytes) => new(
        () =>
        {
            Lower(nice);
            work();
        },
        stackBytes)
    {
        IsBackground = true,
        Name = Name,
    };

    /// <summary>
    /// Makes the calling thread nicer than the first of the process, which has what the process was begun with, and one that
    /// computes. Refused: an ordinary thread does it too.
    /// </summary>
    private static void Lower(int nice)
    {
        (nint get, nint set, nint getPolicy, nint setPolicy) = _calls.Value;
        if (set == 0)
            return;
        int own = ((delegate* unmanaged[Cdecl]<int, uint, int>)get)(WhichProcess, (uint)Environment.ProcessId);
        _ = ((delegate* unmanaged[Cdecl]<int, uint, int, int>)set)(WhichProcess, 0, Math.Min(HighestNice, own + nice));

        // Who wakes often (for a batch, for a disk) would otherwise take the processor from one who answers, for a tick of the
        // system's clock: four milliseconds.
        int priority = 0;
        if (getPolicy != 0 && setPolicy != 0 && ((delegate* unmanaged[Cdecl]<int, int>)getPolicy)(0) == OrdinaryPolicy)
            _ = ((delegate* unmanaged[Cdecl]<int, int, int*, int>)setPolicy)(0, BatchPolicy, &priority);
    }

    private static (nint Get, nint Set, nint GetPolicy, nint SetPolicy) FindCalls()
    {
        // The runtime begins its one thread for timers with the first of them: here, on an ordinary thread.
        new Timer(static _ => { }, null, TimeSpan.FromDays(1), Timeout.InfiniteTimeSpan).Dispose();
        return OperatingSystem.IsLinux()
            && NativeLibrary.TryLoad("libc.so.6", typeof(QuietThread).Assembly, null, out nint library)
            && NativeLibrary.TryGetExport(library, "getpriority", out nint get)
            && NativeLibrary.TryGetExport(library, "setpriority", out nint set)
                ? (get, set, Find(library, "sched_getscheduler"), Find(library, "sched_setscheduler"))
                : default;
    }

    private static nint Find(nint library, string name) => NativeLibrary.TryGetExport(library, name, out nint call) ? call : 0;
}

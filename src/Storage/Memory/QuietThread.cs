using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;

namespace Treepie.Storage.Memory;

/// <summary>
/// Runs background work on low-priority threads, which get the processor time that other threads leave, and a small share of a
/// core if these leave none. Threads started by them, for example by a library, have the same priority. Where the system does not
/// support this (only Linux does), they are ordinary threads.
/// </summary>
/// <remarks>
/// A low-priority thread ends with its work, since a process can lower the priority of a thread but not raise it again. Threads
/// started by it inherit the priority, including threads of the runtime: so code running there must not queue work to the thread
/// pool, which would start low-priority threads for others. It leaves notifications to a waiting ordinary thread.
/// </remarks>
public static unsafe class QuietThread
{
    /// <summary>
    /// The nice value for work that nobody waits for: 12 above the process, a weight of 70 compared with 1,024 of an ordinary
    /// thread, so a fifteenth of a core that another thread also wants.
    /// </summary>
    public const int Quiet = 12;

    /// <summary>
    /// The nice value for work that must not fall behind: 5 above the process, a weight of 335, so a quarter of a core that
    /// another thread also wants, which keeps an index making progress on a machine that is always busy. Not lower in priority: a
    /// garbage collection waits until every thread has stopped, and a thread that is not scheduled does not stop.
    /// </summary>
    public const int Steady = 5;

    private const string Name = "treepie quiet";

    private const int HighestNice = 19;

    /// <summary>
    /// Linux scheduling policy for computing threads (SCHED_BATCH): when they wake, they do not preempt the running thread
    /// but wait until it yields or its time slice ends.
    /// </summary>
    private const int BatchPolicy = 3;

    /// <summary>
    /// The default policy, the only one that is replaced: any other was chosen by whoever started the process.
    /// </summary>
    private const int OrdinaryPolicy = 0;

    /// <summary>Argument of the calls: a thread or process by its number; 0 is the calling thread.</summary>
    private const int WhichProcess = 0;

    /// <summary>The stack size for work that needs little stack.</summary>
    private const int SmallStackBytes = 256 * 1024;

    private static readonly Lazy<(nint Get, nint Set, nint GetPolicy, nint SetPolicy)> _calls = new(FindCalls);

    /// <summary>Whether the system supports low-priority threads.</summary>
    public static bool IsSupported => _calls.Value.Set != 0;

    /// <summary>
    /// Runs work that needs little stack (256 KiB) to completion; its exceptions are rethrown here.
    /// </summary>
    /// <param name="work">The work; threads that it starts keep the low priority for as long as they live.</param>
    /// <param name="nice">The priority: <see cref="Quiet"/> or <see cref="Steady"/>.</param>
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
    /// Starts work on a thread of its own without waiting for it. The work must not throw. The thread does not keep the process
    /// alive.
    /// </summary>
    /// <param name="work">The work.</param>
    /// <param name="nice">The priority: <see cref="Quiet"/> or <see cref="Steady"/>.</param>
    public static void Start(Action work, int nice)
    {
        ArgumentNullException.ThrowIfNull(work);
        _ = _calls.Value; // must run on an ordinary thread first, see FindCalls
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
    /// Sets the nice value of the calling thread above that of the main thread, which has the one the process was started
    /// with, and selects the batch policy. If the system refuses, the thread stays an ordinary one.
    /// </summary>
    private static void Lower(int nice)
    {
        (nint get, nint set, nint getPolicy, nint setPolicy) = _calls.Value;
        if (set == 0)
            return;
        int own = ((delegate* unmanaged[Cdecl]<int, uint, int>)get)(WhichProcess, (uint)Environment.ProcessId);
        _ = ((delegate* unmanaged[Cdecl]<int, uint, int, int>)set)(WhichProcess, 0, Math.Min(HighestNice, own + nice));

        // A thread that wakes often (for a batch, for a disk) would otherwise take the processor from a thread that serves a
        // request, for a tick of the system's clock: four milliseconds.
        int priority = 0;
        if (getPolicy != 0 && setPolicy != 0 && ((delegate* unmanaged[Cdecl]<int, int>)getPolicy)(0) == OrdinaryPolicy)
            _ = ((delegate* unmanaged[Cdecl]<int, int, int*, int>)setPolicy)(0, BatchPolicy, &priority);
    }

    private static (nint Get, nint Set, nint GetPolicy, nint SetPolicy) FindCalls()
    {
        // The runtime starts its only timer thread with the first timer: start it here, on an ordinary thread.
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

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

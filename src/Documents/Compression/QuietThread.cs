using System.Runtime.InteropServices;

namespace Treepie.Compression;

/// <summary>
/// Runs something on a thread that the system schedules behind others. Threads that are begun there, by a library for instance, are scheduled so too, for as long as they live: what they compute gets what
/// others leave, and a fifteenth of a core where these leave nothing. Where the system does not know that (only Linux does), it is an ordinary thread.
/// </summary>
/// <remarks>The thread ends with what it runs: a process may lower a thread's priority, and not raise it again.</remarks>
internal static unsafe class QuietThread
{
    /// <summary>Nice value: a weight of 70 where an ordinary thread has 1,024.</summary>
    private const int Nice = 12;

    /// <summary>The calling thread, to <c>setpriority</c>.</summary>
    private const int WhichProcess = 0, CallingThread = 0;

    private const int StackBytes = 256 * 1024;

    private static readonly Lazy<nint> s_setPriority = new(FindSetPriority);

    /// <summary>Runs it to its end; what it throws is thrown here.</summary>
    public static void Run(Action work)
    {
        System.Runtime.ExceptionServices.ExceptionDispatchInfo? failure = null;
        var thread = new Thread(
            () =>
            {
                try
                {
                    if (s_setPriority.Value is not 0 and var address)
                        _ = ((delegate* unmanaged[Cdecl]<int, uint, int, int>)address)(WhichProcess, CallingThread, Nice); // refused: an ordinary thread does it too
                    work();
                }
                catch (Exception error)
                {
                    failure = System.Runtime.ExceptionServices.ExceptionDispatchInfo.Capture(error);
                }
            },
            StackBytes)
        {
            IsBackground = true,
            Name = "treepie quiet",
        };
        thread.Start();
        thread.Join();
        failure?.Throw();
    }

    private static nint FindSetPriority() =>
        OperatingSystem.IsLinux() && NativeLibrary.TryLoad("libc.so.6", typeof(QuietThread).Assembly, null, out nint library) && NativeLibrary.TryGetExport(library, "setpriority", out nint address) ? address : 0;
}

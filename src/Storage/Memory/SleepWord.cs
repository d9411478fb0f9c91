using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Treepie.Storage.Memory;

/// <summary>
/// A word that one thread sleeps on until another wakes it, by the futex calls of Linux: one system call for each side, and none
/// where the wake comes first. (A monitor takes a lock, a mutex and a condition of its own for the same: several times the
/// processor time where a hundred threads wait for one sync.)
/// </summary>
/// <remarks>
/// The word is 0; or 1: a wake that nobody has taken; or -1: the owner sleeps. It is pinned, so that a wake which comes late
/// finds memory there.
/// </remarks>
internal sealed unsafe partial class SleepWord
{
    private const int Woken = 1;
    private const int Sleeping = -1;
    private const int WaitPrivate = 128;
    private const int WakePrivate = 129;
    private const int LineWords = 16;

    private readonly int[] _memory = GC.AllocateArray<int>(2 * LineWords, pinned: true);

    /// <summary>Whether this machine has it.</summary>
    public static bool IsSupported => OperatingSystem.IsLinux() && Number != 0;

    /// <summary>The number of the system call.</summary>
    private static nint Number => RuntimeInformation.ProcessArchitecture switch
    {
        Architecture.X64 => 202,
        Architecture.Arm64 => 98,
        _ => 0,
    };

    private ref int Word => ref _memory[LineWords];

    /// <summary>
    /// Sleeps until woken; returns at once if that has happened. May return without: the caller looks at its condition again.
    /// </summary>
    public void Sleep()
    {
        if (Interlocked.CompareExchange(ref Word, Sleeping, 0) == 0)
        {
            int* address = (int*)Unsafe.AsPointer(ref Word);
            while (Volatile.Read(ref Word) == Sleeping)
                _ = SystemCall(Number, address, WaitPrivate, Sleeping, 0);
        }

        Volatile.Write(ref Word, 0);
    }

    /// <summary>Wakes the one who sleeps, or the next who is going to.</summary>
    public void Wake()
    {
        if (Interlocked.Exchange(ref Word, Woken) == Sleeping)
            _ = SystemCall(Number, (int*)Unsafe.AsPointer(ref Word), WakePrivate, 1, 0);
    }

    [LibraryImport("libc", EntryPoint = "syscall")]
    private static partial nint SystemCall(nint number, int* address, nint operation, nint value, nint timeout);
}

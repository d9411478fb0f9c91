using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Treepie.Storage.Memory;

/// <summary>
/// A word on which one thread sleeps until another wakes it, using Linux futex calls: one system call on each side, none if
/// the wake comes first. (A monitor needs a lock, a mutex and a condition variable for this: several times the processor time
/// if a hundred threads wait for one sync.)
/// </summary>
/// <remarks>
/// The word is 0; or 1: a pending wake; or -1: the owner sleeps. It is pinned, so that a late wake still finds valid memory.
/// </remarks>
internal sealed unsafe partial class SleepWord
{
    private const int Woken = 1;
    private const int Sleeping = -1;
    private const int WaitPrivate = 128;
    private const int WakePrivate = 129;
    private const int LineWords = 16;

    private readonly int[] _memory = GC.AllocateArray<int>(2 * LineWords, pinned: true);

    /// <summary>Whether this system supports it.</summary>
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
    /// Sleeps until woken; returns at once if there is a pending wake. May return early, so the caller must check its
    /// condition again.
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

    /// <summary>Wakes the sleeping thread, or lets its next <see cref="Sleep"/> return at once.</summary>
    public void Wake()
    {
        if (Interlocked.Exchange(ref Word, Woken) == Sleeping)
            _ = SystemCall(Number, (int*)Unsafe.AsPointer(ref Word), WakePrivate, 1, 0);
    }

    [LibraryImport("libc", EntryPoint = "syscall")]
    private static partial nint SystemCall(nint number, int* address, nint operation, nint value, nint timeout);
}

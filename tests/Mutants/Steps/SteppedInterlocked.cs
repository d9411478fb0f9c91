using Treepie.Storage.Simulation;
using Real = System.Threading.Interlocked;

namespace Treepie.Mutants.Steps;

/// <summary>The operations of <see cref="Real"/>, before each of which another logical thread may run.</summary>
internal static class SteppedInterlocked
{
    public static int Add(ref int location, int value)
    {
        SimulatedScheduler.Step();
        return Real.Add(ref location, value);
    }

    public static long Add(ref long location, long value)
    {
        SimulatedScheduler.Step();
        return Real.Add(ref location, value);
    }

    public static int And(ref int location, int value)
    {
        SimulatedScheduler.Step();
        return Real.And(ref location, value);
    }

    public static int Or(ref int location, int value)
    {
        SimulatedScheduler.Step();
        return Real.Or(ref location, value);
    }

    public static T CompareExchange<T>(ref T location, T value, T comparand)
    {
        SimulatedScheduler.Step();
        return Real.CompareExchange(ref location, value, comparand);
    }

    public static T Exchange<T>(ref T location, T value)
    {
        SimulatedScheduler.Step();
        return Real.Exchange(ref location, value);
    }

    public static int Increment(ref int location) => Add(ref location, 1);

    public static long Increment(ref long location) => Add(ref location, 1);

    public static int Decrement(ref int location) => Add(ref location, -1);

    public static long Decrement(ref long location) => Add(ref location, -1);

    public static long Read(ref readonly long location)
    {
        SimulatedScheduler.Step();
        return Real.Read(in location);
    }

    public static void MemoryBarrier()
    {
        SimulatedScheduler.Step();
        Real.MemoryBarrier();
    }

    public static void MemoryBarrierProcessWide()
    {
        SimulatedScheduler.Step();
        Real.MemoryBarrierProcessWide();
    }
}

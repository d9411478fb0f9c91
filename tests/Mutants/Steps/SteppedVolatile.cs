using Treepie.Storage.Simulation;
using Real = System.Threading.Volatile;

namespace Treepie.Mutants.Steps;

/// <summary>
/// The operations of <see cref="Real"/>, before each read and each write of which another logical thread may run.
/// </summary>
internal static class SteppedVolatile
{
    public static T Read<T>(ref readonly T location)
    {
        SimulatedScheduler.Step();
        T value = location;
        Real.ReadBarrier();
        return value;
    }

    public static void Write<T>(ref T location, T value)
    {
        SimulatedScheduler.Step();
        Real.WriteBarrier();
        location = value;
    }

    public static void ReadBarrier()
    {
        SimulatedScheduler.Step();
        Real.ReadBarrier();
    }
}

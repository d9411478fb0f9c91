using Treepie.Storage.Simulation;
using Real = System.Threading.SpinWait;

namespace Treepie.Mutants.Steps;

/// <summary>A <see cref="Real"/> that lets the other logical threads run.</summary>
internal struct SteppedSpinWait
{
    private Real _real;

    public void SpinOnce(int sleep1Threshold)
    {
        if (!SimulatedScheduler.TryPass())
            _real.SpinOnce(sleep1Threshold);
    }
}

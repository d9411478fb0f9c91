using System.Collections.Concurrent;
using System.Reflection;
using Xunit.v3;

namespace Treepie.Tests.Support;

/// <summary>
/// Ensures that every test ends: one that hangs is canceled, and if that does not help, the process exits and names the
/// test. Otherwise the run would hang without a message. The speed of the machine does not matter: no test takes a tenth of
/// the timeout. There is no limit with <c>TREEPIE_ROUNDS</c> or <c>TREEPIE_THOROUGH</c>, which make tests arbitrarily long.
/// </summary>
[AttributeUsage(AttributeTargets.Assembly)]
public sealed class EndsByItselfAttribute : BeforeAfterTestAttribute
{
    private static readonly TimeSpan _patience = TimeSpan.FromMinutes(25), _grace = TimeSpan.FromMinutes(1);

    private readonly ConcurrentDictionary<string, Timer> _running = new();

    /// <inheritdoc/>
    public override void Before(MethodInfo methodUnderTest, IXunitTest test)
    {
        if (Environment.GetEnvironmentVariable("TREEPIE_ROUNDS") is not null
            || Environment.GetEnvironmentVariable("TREEPIE_THOROUGH") is not null)
            return;
        ITestContext context = TestContext.Current;
        bool isCancelled = false;
        _running[test.UniqueID] = new Timer(
            _ =>
            {
                if (isCancelled)
                    Environment.FailFast($"'{test.TestDisplayName}' hangs: it has not ended {_grace} after it was cancelled.");
                isCancelled = true;
                context.TestOutputHelper?.WriteLine($"It hangs: it is cancelled after {_patience}.");
                context.CancelCurrentTest();
            },
            null,
            _patience,
            _grace);
    }

    /// <inheritdoc/>
    public override void After(MethodInfo methodUnderTest, IXunitTest test)
    {
        if (_running.TryRemove(test.UniqueID, out Timer? timer))
            timer.Dispose();
    }
}

namespace Treepie.Tests.Support;

/// <summary>Waits for what another thread or process brings about and tells nobody of.</summary>
public static class Eventually
{
    /// <summary>Many times what anything takes, on a machine with other work too: what has not come by then never will.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromMinutes(5);

    private static readonly TimeSpan _pace = TimeSpan.FromMilliseconds(5);

    /// <summary>Returns as soon as it is so; fails the test if it never is.</summary>
    public static Task TrueAsync(Func<bool> isSo, string what) => TrueAsync(() => Task.FromResult(isSo()), what);

    /// <summary>The same of what has to be asked for.</summary>
    public static async Task TrueAsync(Func<Task<bool>> isSo, string what)
    {
        long began = TimeProvider.System.GetTimestamp();
        while (!await isSo())
        {
            Assert.True(
                TimeProvider.System.GetElapsedTime(began) < Patience, $"After {Patience} it is still not so that {what}.");
            await Task.Delay(_pace, TestContext.Current.CancellationToken);
        }
    }
}

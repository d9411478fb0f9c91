using Treepie.Storage.Files;
using Treepie.Storage.Simulation;

namespace Treepie.Storage.Tests;

/// <summary>
/// Random work on a disk that loses power at a random operation, again and again on the same files. After each crash the check
/// must be clean, and the state that of a prefix of what was submitted which contains all that was acknowledged.
/// </summary>
/// <typeparam name="TModel">A state.</typeparam>
/// <param name="random">Draws everything.</param>
/// <param name="options">Of the environment.</param>
/// <param name="empty">The state of an environment nobody wrote to.</param>
/// <param name="isEqual">Whether an environment is in a state.</param>
internal sealed class CrashRun<TModel>(
    Random random, StorageOptions options, TModel empty, Func<TModel, StorageEnvironment, bool> isEqual)
    where TModel : class
{
    private readonly SimulatedDisk _disk = new(random);

    // The states that a recovery may find: the oldest is the last that is known to be durable.
    private readonly List<TModel> _possible = [empty];

    /// <summary>The state that all commands so far lead to.</summary>
    public TModel Last => _possible[^1];

    /// <summary>Works until the power fails, so many times.</summary>
    /// <param name="crashes">How many.</param>
    /// <param name="operations">Of the disk, between two of them: the most; before the first twice as many.</param>
    /// <param name="step">A command or a few, each by <see cref="Do"/>.</param>
    public void Run(int crashes, int operations, Action<StorageEnvironment> step)
    {
        for (int crash = 0; crash < crashes; crash++)
        {
            WorkUntilCrash(random.Next(crash == 0 ? 2 * operations : operations), step);

            // Recovery is cut off too, now and then; it must find the same again.
            if (random.Next(3) == 0)
                WorkUntilCrash(random.Next(6), step);

            using StorageEnvironment environment = Open();
            Assert.Empty(environment.Check().Problems);
            Settle(environment);
        }
    }

    /// <summary>Runs a command that leads to a state, which from then on may be found.</summary>
    public void Do(TModel next, Action command)
    {
        _possible.Add(next);
        command();
        if (options.Durability == Durability.Durable)
            KeepLast();
    }

    private void WorkUntilCrash(int operations, Action<StorageEnvironment> step)
    {
        _disk.CrashAt = _disk.Operations + operations;
        StorageEnvironment? environment = null;
        try
        {
            environment = Open();
            Settle(environment);
            while (!_disk.HasCrashed)
            {
                if (random.Next(100) < 10)
                {
                    environment.Checkpoint();
                    KeepLast();
                }
                else
                {
                    step(environment);
                }
            }
        }
        catch (Exception error) when (_disk.HasCrashed && error is IOException or StorageException)
        {
            // The power is off; what was under way may be there or not.
        }
        finally
        {
            environment?.Dispose();
        }

        _disk.Crash();
    }

    /// <summary>What recovery found must be possible, and is what further work begins from.</summary>
    private void Settle(StorageEnvironment environment)
    {
        TModel? found = _possible.FindLast(model => isEqual(model, environment));
        Assert.True(found is not null, $"The state found is none of the {_possible.Count} possible ones.");
        _possible.Clear();
        _possible.Add(found);
    }

    private void KeepLast() => _possible.RemoveRange(0, _possible.Count - 1);

    private StorageEnvironment Open() => StorageEnvironment.Open(new World(_disk, TimeProvider.System, random, false), options);
}

using Treepie.Storage.Files;
using Treepie.Storage.Simulation;

namespace Treepie.Storage.Tests;

/// <summary>
/// Random work on a disk that loses power at random operations, again and again on the same files. After each crash the
/// check must be clean, and the state must be that of a prefix of the submitted commands that contains all acknowledged ones.
/// </summary>
/// <typeparam name="TModel">A state.</typeparam>
/// <param name="random">Source of all random numbers.</param>
/// <param name="options">Options of the environment.</param>
/// <param name="empty">The state of a new environment.</param>
/// <param name="isEqual">Whether an environment has a state.</param>
internal sealed class CrashRun<TModel>(
    Random random, StorageOptions options, TModel empty, Func<TModel, StorageEnvironment, bool> isEqual)
    where TModel : class
{
    private readonly SimulatedDisk _disk = new(random);

    // The states that recovery may find. The first is the last one known to be durable.
    private readonly List<TModel> _possible = [empty];

    /// <summary>The state after all commands so far.</summary>
    public TModel Last => _possible[^1];

    /// <summary>Works until the power fails, this many times.</summary>
    /// <param name="crashes">Number of crashes.</param>
    /// <param name="operations">Maximum number of disk operations between two crashes; twice as many before the first.</param>
    /// <param name="step">Executes one or a few commands, each with <see cref="Do"/>.</param>
    public void Run(int crashes, int operations, Action<StorageEnvironment> step)
    {
        for (int crash = 0; crash < crashes; crash++)
        {
            WorkUntilCrash(random.Next(crash == 0 ? 2 * operations : operations), step);

            // Sometimes recovery loses power too. It must find the same state again.
            if (random.Next(3) == 0)
                WorkUntilCrash(random.Next(6), step);

            using StorageEnvironment environment = Open();
            Assert.Empty(environment.Check().Problems);
            Settle(environment);
        }
    }

    /// <summary>Executes a command that leads to a state, which recovery may find from then on.</summary>
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
            // The power is off. Operations in progress may or may not have taken effect.
        }
        finally
        {
            environment?.Dispose();
        }

        _disk.Crash();
    }

    /// <summary>Verifies that the recovered state is possible, and makes it the starting point of further work.</summary>
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

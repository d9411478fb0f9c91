using System.Diagnostics.CodeAnalysis;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using Treepie.Sessions;

namespace Treepie.Extensions.Hosting;

/// <summary>Registers databases and sessions for dependency injection.</summary>
public static class TreepieServiceCollectionExtensions
{
    private const string Reflection =
        "Sessions write objects by reflection. Use the overload with SessionOptions and a source-generated JsonSerializerContext "
            + "instead.";

    /// <summary>
    /// Adds a database: <see cref="Database"/> and <see cref="IDocumentStore"/> as singletons; <see cref="DocumentSession"/>,
    /// <see cref="IDocumentSession"/> and <see cref="IAsyncDocumentSession"/> as one scoped instance. The database is opened when
    /// the host starts and closed when it stops.
    /// </summary>
    [RequiresUnreferencedCode(Reflection)]
    [RequiresDynamicCode(Reflection)]
    public static IServiceCollection AddTreepieDatabase(
        this IServiceCollection services, Action<TreepieHostingOptions> configure) => Add(services, null, configure, OpenSession);

    /// <summary>
    /// Same as <see cref="AddTreepieDatabase(IServiceCollection, Action{TreepieHostingOptions})"/>, for trimmed or AOT-compiled
    /// programs.
    /// </summary>
    public static IServiceCollection AddTreepieDatabase(
        this IServiceCollection services, SessionOptions session, Action<TreepieHostingOptions> configure)
    {
        ArgumentNullException.ThrowIfNull(session);
        return Add(services, null, configure, _ => database => database.OpenSession(session));
    }

    /// <summary>
    /// Adds one of several databases, with all services under a key: <c>[FromKeyedServices("logs")]</c>. An in-memory database,
    /// which has no directory to be named after, is named after the key.
    /// </summary>
    [RequiresUnreferencedCode(Reflection)]
    [RequiresDynamicCode(Reflection)]
    public static IServiceCollection AddKeyedTreepieDatabase(
        this IServiceCollection services, object key, Action<TreepieHostingOptions> configure)
    {
        ArgumentNullException.ThrowIfNull(key);
        return Add(services, key, configure, OpenSession);
    }

    /// <summary>
    /// Same as <see cref="AddKeyedTreepieDatabase(IServiceCollection, object, Action{TreepieHostingOptions})"/>, for trimmed or
    /// AOT-compiled programs.
    /// </summary>
    public static IServiceCollection AddKeyedTreepieDatabase(
        this IServiceCollection services, object key, SessionOptions session, Action<TreepieHostingOptions> configure)
    {
        ArgumentNullException.ThrowIfNull(key);
        ArgumentNullException.ThrowIfNull(session);
        return Add(services, key, configure, _ => database => database.OpenSession(session));
    }

    /// <summary>
    /// Adds a health check: unhealthy if the database cannot be read or written, degraded if an index has stopped.
    /// </summary>
    /// <param name="builder">The health checks builder.</param>
    /// <param name="key">The key of the database. Null: the database without a key.</param>
    /// <param name="name">The name of the health check.</param>
    /// <param name="tags">The tags of the health check.</param>
    public static IHealthChecksBuilder AddTreepie(
        this IHealthChecksBuilder builder, object? key = null, string name = "treepie", IEnumerable<string>? tags = null)
    {
        ArgumentNullException.ThrowIfNull(builder);
        return builder.Add(
            new HealthCheckRegistration(
                name, provider => new DatabaseHealthCheck(provider.GetRequiredKeyedService<DatabaseHolder>(KeyOf(key))),
                failureStatus: null, tags));
    }

    [RequiresUnreferencedCode(Reflection)]
    [RequiresDynamicCode(Reflection)]
    private static Func<Database, DocumentSession> OpenSession(TreepieHostingOptions options) =>
        options.Session is { } session ? database => database.OpenSession(session) : OpenByReflection;

    [RequiresUnreferencedCode(Reflection)]
    [RequiresDynamicCode(Reflection)]
    private static DocumentSession OpenByReflection(Database database) => database.OpenSession();

    /// <summary>Returns the service key of a database's holder: its key, or an internal type.</summary>
    private static object KeyOf(object? key) => key ?? typeof(DatabaseHolder);

    private static IServiceCollection Add(
        IServiceCollection services, object? key, Action<TreepieHostingOptions> configure,
        Func<TreepieHostingOptions, Func<Database, DocumentSession>> openSession)
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentNullException.ThrowIfNull(configure);
        object own = KeyOf(key);
        if (services.Any(
            service => service.IsKeyedService
                && service.ServiceType == typeof(DatabaseHolder)
                && Equals(service.ServiceKey, own)))
            throw new InvalidOperationException(
                $"A database is added twice{(key is null ? "" : $" under the key '{key}'")}. Give each a key of its own with "
                    + $"AddKeyedTreepieDatabase.");

        services.AddKeyedSingleton(own, (provider, _) =>
        {
            var options = new TreepieHostingOptions();
            configure(options);
            if (options.InMemory && key is string name)
                options.Database = options.Database with { Name = options.Database.Name ?? name };
            return new DatabaseHolder(
                options, openSession(options),
                provider.GetService<ILogger<DatabaseHolder>>() ?? NullLogger<DatabaseHolder>.Instance,
                options.Database.TimeProvider);
        });
        services.AddSingleton<IHostedService>(
            provider => new DatabaseStarter(provider.GetRequiredKeyedService<DatabaseHolder>(own)));
        if (key is null)
        {
            services.AddSingleton(provider => provider.GetRequiredKeyedService<DatabaseHolder>(own).Database);
            services.AddSingleton<IDocumentStore>(provider => provider.GetRequiredService<Database>());
            services.AddScoped(provider => provider.GetRequiredKeyedService<DatabaseHolder>(own).OpenSession());
            services.AddScoped<IDocumentSession>(provider => provider.GetRequiredService<DocumentSession>());
            services.AddScoped<IAsyncDocumentSession>(provider => provider.GetRequiredService<DocumentSession>());
            return services;
        }

        services.AddKeyedSingleton(key, (provider, _) => provider.GetRequiredKeyedService<DatabaseHolder>(own).Database);
        services.AddKeyedSingleton<IDocumentStore>(
            key, (provider, _) => provider.GetRequiredKeyedService<DatabaseHolder>(own).Database);
        services.AddKeyedScoped(key, (provider, _) => provider.GetRequiredKeyedService<DatabaseHolder>(own).OpenSession());
        services.AddKeyedScoped<IDocumentSession>(
            key, (provider, given) => provider.GetRequiredKeyedService<DocumentSession>(given));
        services.AddKeyedScoped<IAsyncDocumentSession>(
            key, (provider, given) => provider.GetRequiredKeyedService<DocumentSession>(given));
        return services;
    }
}

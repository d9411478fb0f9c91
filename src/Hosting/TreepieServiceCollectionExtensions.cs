using System.Diagnostics.CodeAnalysis;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;
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
    /// the host starts and closed when it stops. Its options are <c>IOptions&lt;TreepieHostingOptions&gt;</c>, which are checked
    /// when the host starts; those of a database with a key are named as the key.
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
    /// Adds a database with options of a section of the configuration; see <see cref="TreepieHostingOptions.Read"/>.
    /// </summary>
    [RequiresUnreferencedCode(Reflection)]
    [RequiresDynamicCode(Reflection)]
    public static IServiceCollection AddTreepieDatabase(this IServiceCollection services, IConfiguration section)
    {
        ArgumentNullException.ThrowIfNull(section);
        return AddTreepieDatabase(services, options => options.Read(section));
    }

    /// <summary>
    /// Adds one of several databases with options of a section of the configuration, with all services under a key.
    /// </summary>
    [RequiresUnreferencedCode(Reflection)]
    [RequiresDynamicCode(Reflection)]
    public static IServiceCollection AddKeyedTreepieDatabase(this IServiceCollection services, object key, IConfiguration section)
    {
        ArgumentNullException.ThrowIfNull(section);
        return AddKeyedTreepieDatabase(services, key, options => options.Read(section));
    }

    /// <summary>
    /// Adds a database for each section below one of the configuration, with all services under the name of its section.
    /// </summary>
    [RequiresUnreferencedCode(Reflection)]
    [RequiresDynamicCode(Reflection)]
    public static IServiceCollection AddKeyedTreepieDatabases(this IServiceCollection services, IConfiguration sections)
    {
        ArgumentNullException.ThrowIfNull(sections);
        foreach (IConfigurationSection section in sections.GetChildren())
            AddKeyedTreepieDatabase(services, section.Key, section);
        return services;
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

        string name = key?.ToString() ?? Options.DefaultName;
        services.AddOptions<TreepieHostingOptions>(name).Configure(configure).ValidateOnStart();
        services.AddSingleton<IValidateOptions<TreepieHostingOptions>>(new HostingOptionsValidator(name, key));
        services.AddKeyedSingleton(own, (provider, _) =>
        {
            TreepieHostingOptions options = provider.GetRequiredService<IOptionsMonitor<TreepieHostingOptions>>().Get(name);
            return new DatabaseHolder(
                options, key as string, openSession(options),
                provider.GetService<ILogger<DatabaseHolder>>() ?? NullLogger<DatabaseHolder>.Instance);
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
